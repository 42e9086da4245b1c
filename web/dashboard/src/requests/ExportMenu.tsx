import { useQuery } from "@tanstack/react-query";
import type { ReactElement } from "react";

import { absolute } from "../api/base";
import { call, type Params } from "../api/call";
import type { Where } from "../api/types";
import { number } from "../ui/marks";
import { Menu, MenuItem } from "../ui/Menu";
import { notifyError } from "../ui/notices";
import { readRows } from "./rows";

// ExportMenu downloads the requests that match a filter. An exported request needs all words of the query. If
// the list also shows others, listed is how many it has, and the menu has both numbers.
export function ExportMenu({ where, listed, button }: { where: Where; listed?: number | undefined; button: ReactElement }) {
  const only = listed !== undefined && <Exact where={where} listed={listed} />;
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

// Exact says how many of the listed requests an export has.
function Exact({ where, listed }: { where: Where; listed: number }) {
  const { data } = useQuery({
    queryKey: ["requests", "exact", where],
    queryFn: ({ signal }) => readRows(where, "newest", "", 1, signal),
    staleTime: 0,
  });
  return <small>Exact matches only{data && ` (${number(data.total)} of ${number(listed)})`}</small>;
}

async function download(where: Where, format: Params<"requests-export">["format"]): Promise<void> {
  try {
    // Some spreadsheets recognize UTF-8 only by a byte order mark.
    const { url } = await call("requests-export", { ...where, format, ...(format === "csv" && { bom: true }) });
    location.assign(absolute(url)); // a download, so the page stays open
  } catch (error) {
    notifyError(error);
  }
}
