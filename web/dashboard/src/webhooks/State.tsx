import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { appsQuery } from "../api/queries";
import type { Webhook } from "../api/types";
import { CheckIcon, WarningIcon } from "../ui/icons";
import { ago, count, moment, number, Time } from "../ui/marks";
import { formatOf, hostOf } from "./format";

// State says in words how well the deliveries work.
export function State({ webhook: { state, health } }: { webhook: Webhook }) {
  const { behind, failing_since, retry_at, last_error } = health;
  const line = (kind: "good" | "bad" | "quiet", ...words: ReactNode[]) => (
    <p className={`hook-state hook-${kind}`}>
      {kind === "good" && <CheckIcon size={16} />}
      {kind === "bad" && <WarningIcon size={16} />}
      <span>{words}</span>
    </p>
  );
  if (state === "disabled") return line("bad", `Disabled: ${last_error}`);
  if (state === "paused") return line("quiet", "Paused");
  if (failing_since) return line("bad", `Failing since ${moment(failing_since)}; next attempt ${retry_at ? soon(retry_at) : "at once"}`);
  return line("good", behind ? `Delivering, ${number(behind)} behind` : "Up to date");
}

// placeOf says how far a webhook has come in the log of changes.
export function placeOf({ position, behind }: Webhook["health"]): string {
  const place = `(${number(position)} of ${number(position + behind)})`;
  return behind ? `${number(behind)} behind ${place}` : `Caught up ${place}`;
}

// soon returns when something happens, such as "in 5 minutes".
const soon = (at: string) => (Date.parse(at) - Date.now() < 60_000 ? "in a moment" : ago(at));

// Facts are the details of a webhook on one line.
export function Facts({ webhook }: { webhook: Webhook }) {
  const { data: apps } = useQuery(appsQuery);
  const { url, format, app_id, state, health } = webhook;
  const { behind, set_aside, failing_since, last_success_at, last_error } = health;
  const delivering = state === "on" && !failing_since;
  return (
    <>
      {last_error && state !== "disabled" && <p className="small">Last error: {last_error}</p>}
      <p className="quiet small hook-facts">
        <span>{hostOf(url)}</span>
        <span>{formatOf(format).name}</span>
        <span>{app_id ? (apps?.find(({ id }) => id === app_id)?.name ?? "One app") : "All apps"}</span>
        <span>{last_success_at ? <>Last success <Time at={last_success_at} /></> : "No success yet"}</span>
        {!delivering && behind > 0 && <span>{number(behind)} behind</span>}
        {set_aside > 0 && <span>{count(set_aside, "event")} set aside</span>}
      </p>
    </>
  );
}
