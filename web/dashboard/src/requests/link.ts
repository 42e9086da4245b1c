import { useRouter } from "@tanstack/react-router";

import { absolute } from "../api/base";
import type { Box } from "../api/types";

// useRequestLink returns a function that returns the address of a request, which a colleague can open.
export function useRequestLink(box: Box): (id: string) => string {
  const router = useRouter();
  return (id) => absolute(router.buildLocation({ to: "/", search: { request: id, ...(box !== "live" && { box }) } }).href);
}
