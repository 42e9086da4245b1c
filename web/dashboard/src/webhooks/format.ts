import type { Webhook } from "../api/types";

interface Format {
  id: Webhook["format"];
  name: string;
  hint: string; // what is sent, and where the URL comes from
  url: string; // the label of the field for it
  urlHint: string;
}

const secret = "Anyone who has it can post to the channel.";

export const formats: Format[] = [
  {
    id: "events",
    name: "Signed JSON",
    hint: "Events as JSON, for your own program.",
    url: "Endpoint URL",
    urlHint: "Starts with https://. Your program receives each event there.",
  },
  {
    id: "slack",
    name: "Slack",
    hint: "Messages in a channel. Create a Slack app with Incoming Webhooks, and add a webhook for the channel.",
    url: "Webhook URL",
    urlHint: `Starts with https://hooks.slack.com/. ${secret}`,
  },
  {
    id: "discord",
    name: "Discord",
    hint: "Messages in a channel. Its settings have a webhook URL under Integrations, Webhooks.",
    url: "Webhook URL",
    urlHint: `Starts with https://discord.com/api/webhooks/. ${secret}`,
  },
  {
    id: "teams",
    name: "Teams",
    hint: "Messages in a channel. Its menu has Workflows: “Post to a channel when a webhook request is received”.",
    url: "Workflow URL",
    urlHint: `Starts with https://. ${secret}`,
  },
];

export const formatOf = (format: Webhook["format"]): Format => formats.find(({ id }) => id === format)!;

// hostOf returns the host of an address. The rest is a secret of chats.
export const hostOf = (url: string): string | undefined => url.split(/[/?]/)[2];
