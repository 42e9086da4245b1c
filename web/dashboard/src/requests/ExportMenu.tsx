import type { ReactElement } from "react";

import { absolute } from "../api/base";
import { call, type Params } from "../api/call";
import type { Where } from "../api/types";
import { Menu, MenuItem } from "../ui/Menu";
import { notifyError } from "../ui/notices";

// Downloads the requests that a filter matches.
export function ExportMenu({ where, button }: { where: Where; button: ReactElement }) {
  return (
    <Menu label="Export" button={button}>
      <MenuItem onAction={() => void download(where, "csv")} textValue="Export CSV">
        <span className="menu-text">
          Export CSV<small>A table for spreadsheets</small>
        </span>
      </MenuItem>
      <MenuItem onAction={() => void download(where, "jsonl")} textValue="Export JSON Lines">
        <span className="menu-text">
          Export JSON Lines<small>With votes, comments and history</small>
        </span>
      </MenuItem>
    </Menu>
  );
}

async function download(where: Where, format: Params<"requests-export">["format"]): Promise<void> {
  try {
    // Some spreadsheets take a CSV for UTF-8 only when it begins with a byte order mark.
    const { url } = await call("requests-export", { ...where, format, ...(format === "csv" && { bom: true }) });
    location.assign(absolute(url)); // a file, so that the page stays
  } catch (error) {
    notifyError(error);
  }
}
