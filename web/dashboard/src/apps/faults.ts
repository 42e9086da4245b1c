import { ApiError } from "../api/call";
import { message } from "../ui/states";

// faultsOf splits the message of apps.invalid_settings, which names every faulty setting by
// its path, into one sentence a setting. What is about no setting stands under "".
export function faultsOf(error: unknown): Record<string, string> {
  if (!error) return {};
  if (!(error instanceof ApiError && error.code === "apps.invalid_settings")) return { "": message(error) };
  const faults: Record<string, string> = {};
  for (const sentence of error.message.split(/(?<=\.) (?=settings\.)/)) {
    const [, name = "", rest = sentence] = /^settings\.(?:widget\.)?(\w+)\S* (.*)$/.exec(sentence) ?? [];
    faults[name] = name ? "It " + rest : rest;
  }
  return faults;
}
