import type { ReactElement } from "react";

import { absolute } from "../api/base";
import { call, type Params } from "../api/call";
import type { Where } from "../api/types";
import { Menu, MenuItem } from "../ui/Menu";
import { notifyError } from "../ui/notices";

// ExportMenu downloads the requests that match a filter. With words, it says that a request
// needs all words of the query, because the list also shows others.
export function ExportMenu({ where, words, button }: { where: Where; words?: boolean; button: ReactElement }) {
  const only = words && <small>Exact matches only</small>;
  return (
    <Menu label="Export" button={button}>
      <MenuItem onAction={() => void download(where, "csv")} textValue="Export CSV">
        <span className="menu-text">
          Export CSV<small>For spreadsheets</small>{only}
        </span>
      </MenuItem>
      <MenuItem onAction={() => void download(where, "jsonl")} textValue="Export JSON Lines">
        <span className="menu-text">
          Export JSON Lines<small>With votes, comments and history</small>{only}
        </span>
      </MenuItem>
    </Menu>
  );
}

async function download(where: Where, format: Params<"requests-export">["format"]): Promise<void> {
  try {
    // Some spreadsheets recognise UTF-8 only by a byte order mark.
    const { url } = await call("requests-export", { ...where, format, ...(format === "csv" && { bom: true }) });
    location.assign(absolute(url)); // a download, so the page stays open
  } catch (error) {
    notifyError(error);
  }
}
