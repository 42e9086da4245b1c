import { base } from "./base";
import type { Operation, Params, Result } from "../../../../clients/ts/src/client";

export type { Operation, Params, Result };

// ApiError is a failed call. code is a code of docs/api.md, or "network" if there was no
// answer. retryAfter is in seconds.
export class ApiError extends Error {
  constructor(readonly code: string, message: string, readonly status: number, readonly retryAfter = 0) {
    super(message);
  }

  // The invalid field, such as "email" for users.invalid_email.
  get field(): string | undefined {
    return /^[a-z]+\.invalid_(.+)$/.exec(this.code)?.[1];
  }

  // Whether the same call can succeed later.
  get temporary(): boolean {
    return this.code === "network" || this.status === 408 || this.status === 429 || this.status === 503;
  }
}

export const unreachable = (retryAfter = 0) =>
  new ApiError("network", "Cannot reach Gatherkit. Check your connection and try again.", 0, retryAfter);

// send runs an operation. Pass the credentials in headers.
export async function send<O extends Operation>(
  operation: O,
  params: Params<O>,
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<Result<O>> {
  let response: Response | undefined;
  let answer: { ok: true; result: Result<O> } | { ok: false; error: { code: string; message: string } };
  try {
    response = await fetch(new URL("api/" + operation, base), {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify(params),
      signal: signal ?? null,
    });
    answer = parse(await response.text());
  } catch (error) {
    if (signal?.aborted) throw error;
    throw unreachable(response && delayOf(response)); // a proxy may answer instead of the service
  }
  if (answer.ok) return answer.result;
  throw new ApiError(answer.error.code, answer.error.message, response.status, delayOf(response));
}

// delayOf returns the seconds of Retry-After, or 0 without it or if it is a date.
const delayOf = (response: Response) => Number(response.headers.get("Retry-After")) || 0;

// parse reads JSON and keeps numbers with many digits as text. JavaScript would round them, and
// pages send ids of other systems along.
function parse(text: string) {
  const keep = (_: string, value: unknown, context?: { source?: string }) =>
    typeof value === "number" && context?.source && /\d[\d.]{15}/.test(context.source) ? context.source : value;
  return JSON.parse(text, /\d[\d.]{15}/.test(text) ? keep : undefined);
}
