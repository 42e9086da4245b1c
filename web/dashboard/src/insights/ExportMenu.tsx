import { useState } from "react";

import { call, type Params } from "../api/call";
import { absolute } from "../api/base";
import type { Where } from "../api/types";
import { Button } from "../ui/Button";
import { DownloadIcon } from "../ui/icons";
import { Menu, MenuItem } from "../ui/Menu";
import { notifyError } from "../ui/notices";

type Format = Params<"requests-export">["format"];

// Downloads the requests that the filter matches.
export function ExportMenu({ where }: { where: Where }) {
  const [busy, setBusy] = useState(false);

  async function download(format: Format) {
    setBusy(true);
    try {
      // Spreadsheets take a CSV for UTF-8 only when it begins with a byte order mark.
      const { url } = await call("requests-export", { ...where, format, ...(format === "csv" && { bom: true }) });
      location.assign(absolute(url)); // an attachment: the page stays
    } catch (error) {
      notifyError(error);
    } finally {
      setBusy(false);
    }
  }

  return (
    <Menu
      label="Export"
      button={
        <Button isDisabled={busy}>
          <DownloadIcon size={16} /> Export
        </Button>
      }
    >
      <MenuItem onAction={() => void download("csv")} textValue="CSV">
        <span className="menu-text">CSV<small>A table for spreadsheets</small></span>
      </MenuItem>
      <MenuItem onAction={() => void download("jsonl")} textValue="JSON Lines">
        <span className="menu-text">JSON Lines<small>Everything, with votes, comments and history</small></span>
      </MenuItem>
    </Menu>
  );
}
