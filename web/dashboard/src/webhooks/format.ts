import type { Webhook } from "../api/types";

// The formats. The hints say what is sent, and where the address comes from.
export const formats: { id: Webhook["format"]; name: string; hint: string }[] = [
  { id: "events", name: "Signed JSON", hint: "Events as JSON for your own endpoint." },
  { id: "slack", name: "Slack", hint: "Messages in a channel. Create a Slack app with Incoming Webhooks, and add one for the channel." },
  { id: "discord", name: "Discord", hint: "Messages in a channel. The address is in its settings, under Integrations, Webhooks." },
  {
    id: "teams",
    name: "Teams",
    hint: "Messages in a channel. Its menu has Workflows: “Post to a channel when a webhook request is received”.",
  },
];

export const formatName = (format: Webhook["format"]): string | undefined => formats.find(({ id }) => id === format)?.name;

// hostOf returns the host of an address. The rest is a secret of chats.
export const hostOf = (url: string): string | undefined => url.split(/[/?]/)[2];
