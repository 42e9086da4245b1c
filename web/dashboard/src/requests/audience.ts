import type { Result } from "../api/call";
import { cut } from "../text/cut";
import { count } from "../ui/marks";
import type { Row } from "./rows";

type Audience = Result<"requests-get">["audience"];

const longestName = 30;

// seenBy says who outside the team will see something, such as "this".
export function seenBy({ askers, submitter, voters, links }: Audience, { sender }: Pick<Row, "sender">, what: string): string {
  const name = submitter ? short(sender) : "";
  const others = name ? askers - 1 : askers;
  const parts = [
    ...(name ? [name] : []),
    ...(others > 0 ? [count(others, name ? "other submitter" : "customer")] : []),
    ...(voters ? [count(voters, "voter")] : []),
    ...(links ? ["anyone with a link"] : []),
  ];
  const last = parts.pop();
  if (!last) return "No customer will be notified";
  if (!parts.length && links) return `Anyone with a link will see ${what}`;
  return `${parts.length ? `${parts.join(", ")} and ` : ""}${last} will see ${what}`;
}

function short(name: string): string {
  return cut(name, longestName) === name ? name : cut(name, longestName - 1).trimEnd() + "…";
}

// toldOf says how many people a logged change was told to. It is empty for changes that nobody outside can see.
export function toldOf({ told, quiet }: Record<string, unknown>): string {
  if (quiet === true) return "Nobody was told.";
  return typeof told === "number" && told > 0 ? `${count(told, "person was", "people were")} told.` : "";
}
