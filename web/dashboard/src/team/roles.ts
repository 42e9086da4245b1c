import { roles } from "../api/session";
import type { Member, Role } from "../api/types";

export const roleNames: Record<Role, string> = { viewer: "Viewer", member: "Member", admin: "Admin", owner: "Owner" };

const hints: Record<Role, string> = {
  viewer: "Read only.",
  member: "Can also edit, merge and comment on requests.",
  admin: "Can also manage apps and the team.",
  owner: "Full access, including other owners.",
};

// rolesToGive returns the roles that a role can give. Only owners can make someone an owner.
export function rolesToGive(mine: Role) {
  return roles.filter((role) => role !== "owner" || mine === "owner").map((id) => ({ id, name: roleNames[id], hint: hints[id] }));
}

// mayManage reports whether the user can change a member. Users cannot change themselves, so
// that the last owner stays one.
export function mayManage(me: { user: { id: string }; role: Role }, other: Member): boolean {
  if (me.user.id === other.id) return false;
  return me.role === "owner" || (me.role === "admin" && other.role !== "owner");
}
