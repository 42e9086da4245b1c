import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import { ApiError, call } from "../api/call";
import type { Token } from "../api/types";
import { notify } from "../ui/notices";

// The user's own tokens, or for admins those of the whole account, the newest first.
export const tokensQuery = queryOptions({
  queryKey: ["tokens"],
  queryFn: async ({ signal }) => (await call("tokens-list", {}, signal)).tokens,
  staleTime: 0,
});

// The names of the button and the dialog that create a token.
export const newNames: Record<Token["kind"], string> = { personal: "New token", service: "New service token" };

// What a token may do. The hints name the role that the audit log and the API use.
export const scopes: { id: Token["scope"]; name: string; hint: string }[] = [
  { id: "viewer", name: "View", hint: "Read only." },
  { id: "member", name: "View and edit", hint: "Can also edit, merge and comment on requests." },
  { id: "admin", name: "View, edit and manage apps", hint: "Can also manage apps, but not the team." },
];

// useRevoke revokes a token. If somebody else was faster, it says so.
export function useRevoke(token: Token, onDone: () => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () =>
      call("tokens-revoke", { id: token.id }).then(
        () => `“${token.name}” revoked.`,
        (error) => {
          if (error instanceof ApiError && error.code === "tokens.not_found") return `“${token.name}” was already revoked.`;
          throw error;
        },
      ),
    onSuccess: (outcome) => {
      client.setQueryData(tokensQuery.queryKey, (tokens) => tokens?.filter(({ id }) => id !== token.id));
      onDone();
      notify(outcome);
      return client.invalidateQueries(tokensQuery);
    },
  });
}
