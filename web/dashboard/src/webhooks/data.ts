import { infiniteQueryOptions, queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";

import { call, type Params } from "../api/call";
import { onChange } from "../api/feed";
import { queryClient } from "../api/queries";
import type { Webhook } from "../api/types";
import { notify, notifyError } from "../ui/notices";

// Health changes without an event of the feed, so it is read again while the page is visible.
const interval = 3_000;

// All webhooks, the oldest first.
export const webhooksQuery = queryOptions({
  queryKey: ["webhooks"],
  queryFn: async ({ signal }) => (await call("webhooks-list", {}, signal)).webhooks,
  staleTime: 0,
  refetchInterval: interval,
});

// useWebhooks returns the webhooks as they are now.
export function useWebhooks() {
  const client = useQueryClient();
  useEffect(() => onChange(() => void client.invalidateQueries(webhooksQuery)), [client]); // every event is delivered
  return useQuery(webhooksQuery);
}

// put shows a webhook that was created or changed.
export async function put(webhook: Webhook): Promise<void> {
  await queryClient.cancelQueries(webhooksQuery); // it may have read the old one
  queryClient.setQueryData(webhooksQuery.queryKey, (list) => [...(list ?? []).filter(({ id }) => id !== webhook.id), webhook].sort(byAge));
}

const byAge = (a: Webhook, b: Webhook) => (a.id < b.id ? -1 : 1);

// useTurn pauses a webhook or turns it on. If it is on but fails, it tries again at once.
export function useTurn({ id, name }: Webhook) {
  return useMutation({
    mutationFn: (state: NonNullable<Params<"webhooks-update">["state"]>) => call("webhooks-update", { id, state }),
    onSuccess: async ({ webhook }, state) => {
      await put(webhook);
      notify(state === "on" ? `“${name}” is on. It continues where it stopped.` : `“${name}” is paused.`);
    },
    onError: (error) => notifyError(error),
  });
}

const attemptsKey = (id: string) => ["webhook-attempts", id];

// The attempts to deliver, the latest first.
export const attemptsQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: attemptsKey(id),
    queryFn: ({ pageParam, signal }) => call("webhooks-attempts", { id, ...(pageParam && { before: pageParam }) }, signal),
    initialPageParam: "",
    getNextPageParam: ({ more, attempts }) => (more ? attempts.at(-1)?.id : undefined),
    staleTime: 0,
  });

// The id of the latest attempt. Ids grow with time.
export const latestQuery = (id: string) =>
  queryOptions({
    queryKey: [...attemptsKey(id), "latest"],
    queryFn: async ({ signal }) => (await call("webhooks-attempts", { id, limit: 1 }, signal)).attempts[0]?.id ?? "",
    staleTime: 0,
    refetchInterval: interval,
  });

// useSend sends the event with a number again, or a test for 0, and returns the answer.
export function useSend(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (number: number) =>
      (await (number ? call("webhooks-resend", { id, number }) : call("webhooks-test", { id }))).attempt,
    onSettled: () => {
      void client.invalidateQueries({ queryKey: attemptsKey(id) });
      void client.invalidateQueries(webhooksQuery);
    },
  });
}
