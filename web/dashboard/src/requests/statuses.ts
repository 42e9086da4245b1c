import { useQuery } from "@tanstack/react-query";

import { appsQuery } from "../api/queries";
import { statusNames, type App, type Status } from "../api/types";

// statusName returns the name that an app gives a status. Without the id of an app, the name is that of the
// only app, or the usual one.
export function statusName(apps: App[] | undefined, status: Status, id?: string): string {
  const app = id ? apps?.find((one) => one.id === id) : apps?.length === 1 ? apps[0] : undefined;
  return (status !== "duplicate" && app?.settings.statuses[status].label) || statusNames[status];
}

export function useStatusName(): (status: Status, id?: string) => string {
  const { data: apps } = useQuery(appsQuery);
  return (status, id) => statusName(apps, status, id);
}
