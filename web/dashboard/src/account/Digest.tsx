import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { call, type Params } from "../api/call";
import { Radios } from "../ui/choices";
import { notify, notifyError } from "../ui/notices";
import { Failure, Skeleton } from "../ui/states";

type Every = Params<"digest-set">["every"];

const choices: { id: Every; name: string }[] = [
  { id: "never", name: "Never" },
  { id: "daily", name: "Every morning" },
  { id: "weekly", name: "Every Monday" },
];

const digestQuery = queryOptions({
  queryKey: ["digest"],
  queryFn: async ({ signal }) => (await call("digest-get", {}, signal)).every,
});

// Digest is how often the user gets an e-mail about what came in and what moved.
export function Digest() {
  const client = useQueryClient();
  const digest = useQuery(digestQuery);
  const change = useMutation({
    mutationFn: (every: Every) => call("digest-set", { every }),
    onSuccess: ({ every }) => {
      client.setQueryData(digestQuery.queryKey, every);
      notify(every === "never" ? "You get no digest." : "Saved. The first digest is about what happens from now on.");
    },
    onError: (error) => notifyError(error, "The digest was not changed."),
  });
  if (digest.isPending) return <Skeleton lines={2} label="Loading digest" />;
  if (digest.data === undefined) return <Failure error={digest.error} onRetry={() => void digest.refetch()} />;
  return (
    <div className="stack">
      <p className="quiet small">New requests and status changes, at 7:00 UTC. If nothing happened, no e-mail is sent.</p>
      <Radios
        label="How often"
        value={change.isPending ? change.variables : digest.data}
        options={choices}
        onChange={(every) => change.mutate(every)}
        isDisabled={change.isPending}
      />
    </div>
  );
}
