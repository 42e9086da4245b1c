import type { App } from "../api/types";
import type { SettingsForm } from "../apps/SettingsForm";
import type { Sharing } from "./queries";

export type Portal = App["settings"]["portal"];
export type Access = Exclude<Portal["access"], "off">;

export type Values = Portal & { sharing: Sharing; public_name: string };

// A Step is a part of the page, which edits some of the values.
export interface Step {
  app: App;
  form: SettingsForm<Values>;
}

const clean = (lines: string[]) => lines.map((line) => line.trim()).filter(Boolean);

// settingsOf turns changes into the parameter that is sent.
export function settingsOf({ sharing, public_name, ...portal }: Partial<Values>) {
  const { tags, held_words, frame_ancestors } = portal;
  return {
    ...(sharing && { sharing }),
    ...(public_name !== undefined && { public_name }),
    portal: {
      ...portal,
      ...(tags && { tags: clean(tags) }),
      ...(held_words && { held_words: clean(held_words) }),
      ...(frame_ancestors && { frame_ancestors: clean(frame_ancestors) }),
    },
  };
}

// slugOf proposes the last part of the address for an app with this name.
export function slugOf(name: string): string {
  const words = name.normalize("NFKD").toLowerCase().replace(/\p{M}/gu, "").match(/[a-z0-9]+/g) ?? [];
  const slug = words.join("-").slice(0, 50).replace(/-$/, "");
  return slug.length > 1 ? slug : "";
}
