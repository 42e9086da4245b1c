import { useMutation, useQueryClient } from "@tanstack/react-query";

import { call } from "../api/call";
import { usersQuery } from "../api/queries";
import type { Member, Role } from "../api/types";
import { notify, notifyError } from "../ui/notices";
import type { PersonalLink } from "./LinkDialog";
import { roleNames } from "./roles";

// useChangeRole shows the new role at once, and reverts it if the service refuses it.
export function useChangeRole(): (member: Member, role: Role) => void {
  const client = useQueryClient();
  const show = (id: string, role: Role) =>
    client.setQueryData(usersQuery.queryKey, (users) => users?.map((user) => (user.id === id ? { ...user, role } : user)));
  const change = useMutation({
    mutationFn: ({ member, role }: { member: Member; role: Role }) => call("users-update", { id: member.id, role }),
    onMutate: ({ member, role }) => show(member.id, role),
    onError: (error, { member }) => {
      show(member.id, member.role);
      notifyError(error);
    },
    onSettled: () => client.invalidateQueries(usersQuery),
  });
  return (member, role) => {
    if (role === member.role) return;
    const undo = () => change.mutate({ member: { ...member, role }, role: member.role });
    change.mutate(
      { member, role },
      {
        onSuccess: () =>
          notify(`${member.name} is now ${role === "admin" || role === "owner" ? "an" : "a"} ${roleNames[role].toLowerCase()}.`, { undo }),
      },
    );
  };
}

export function useRecover(onLink: (link: PersonalLink) => void) {
  return useMutation({
    mutationFn: ({ member, send }: { member: Member; send: boolean }) => call("users-recover", { id: member.id, send }),
    onSuccess: ({ link, expires_at, sent }, { member: { name, email, invited } }) =>
      onLink({ purpose: invited ? "invitation" : "recovery", name, link, expiresAt: expires_at, sentTo: sent ? email : undefined }),
    onError: (error) => notifyError(error),
  });
}

export function useRemove(onDone: () => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (member: Member) => call("users-remove", { id: member.id }),
    onSuccess: async (_, member) => {
      onDone();
      notify(`${member.name} removed from the team.`);
      // Their requests are now unassigned.
      await Promise.all([client.invalidateQueries(usersQuery), client.invalidateQueries({ queryKey: ["requests"] })]);
    },
  });
}
