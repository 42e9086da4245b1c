import { roles } from "../api/session";
import type { Member, Role } from "../api/types";

export const roleNames: Record<Role, string> = { viewer: "Viewer", member: "Member", admin: "Admin", owner: "Owner" };

const hints: Record<Role, string> = {
  viewer: "Reads everything, changes nothing.",
  member: "Also decides about requests: status, tags, comments, merging.",
  admin: "Also manages apps and the team.",
  owner: "May do everything, also manage owners.",
};

// The roles that somebody may give: an admin makes no owners.
export function rolesToGive(mine: Role) {
  return roles.filter((role) => role !== "owner" || mine === "owner").map((id) => ({ id, name: roleNames[id], hint: hints[id] }));
}

// Nobody manages themselves: so the last owner stays one, and nobody locks themselves out.
export function mayManage(me: { user: { id: string }; role: Role }, other: Member): boolean {
  if (me.user.id === other.id) return false;
  return me.role === "owner" || (me.role === "admin" && other.role !== "owner");
}
