import type { Quota } from "../api/quotas";
import { number, size } from "../ui/marks";

// amount is how much of a quota is used or can be, as people read it.
export function amount(name: Quota["name"], n: number): string {
  return name === "files" ? size(n) : number(n);
}
