import { ApiError } from "../api/call";
import { message } from "../ui/states";

const taken: Record<string, string> = { "apps.slug_taken": "slug", "apps.host_taken": "host" };

// settingErrors splits the message of apps.invalid_settings, which names every invalid setting
// by its path, into one sentence for each setting. The key of other errors is "".
export function settingErrors(error: unknown): Record<string, string> {
  if (!error) return {};
  const field = error instanceof ApiError && taken[error.code];
  if (field) return { [field]: "Another app has this already. Choose another one." };
  if (!(error instanceof ApiError && error.code === "apps.invalid_settings")) return { "": message(error) };
  const errors: Record<string, string> = {};
  for (const sentence of error.message.split(/(?<=\.) (?=settings\.)/)) {
    const [, name = "", rest = sentence] = /^settings\.(?:widget\.|statuses\.|portal\.)?(\w+)\S* (.*)$/.exec(sentence) ?? [];
    errors[name] = name ? "It " + rest : rest;
  }
  return errors;
}
