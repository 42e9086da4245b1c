import { absolute } from "../api/base";
import type { App } from "../api/types";

// addressOf is where a portal is.
export const addressOf = ({ host, slug }: Pick<App["settings"]["portal"], "host" | "slug">): string =>
  host ? `${location.protocol}//${host}/` : absolute(`p/${slug}/`);
