import { base } from "./base";
import type { operations } from "./schema";

export type Operation = keyof operations;

type Body<O extends Operation> = NonNullable<operations[O]["requestBody"]> extends { content: { "application/json": infer P } } ? P : never;
export type Params<O extends Operation> = [Body<O>] extends [never] ? Record<string, never> : Body<O>;
export type Result<O extends Operation> = operations[O]["responses"][200]["content"]["application/json"]["result"];

// An answer that is no result. code is one of docs/api.md's, or "network" when there was no
// answer at all; retryAfter is in seconds.
export class ApiError extends Error {
  constructor(readonly code: string, message: string, readonly status: number, readonly retryAfter = 0) {
    super(message);
  }

  // The field that is not acceptable, such as "email" of users.invalid_email.
  get field(): string | undefined {
    return /^[a-z]+\.invalid_(.+)$/.exec(this.code)?.[1];
  }

  // Whether the same call can succeed later.
  get passing(): boolean {
    return this.code === "network" || this.status === 429 || this.status === 503;
  }
}

export const unreachable = () => new ApiError("network", "Gatherkit cannot be reached at the moment. Try again shortly.", 0);

// A call without credentials of its own: headers says who asks.
export async function send<O extends Operation>(
  operation: O,
  params: Params<O>,
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<Result<O>> {
  let response: Response;
  let answer: { ok: true; result: Result<O> } | { ok: false; error: { code: string; message: string } };
  try {
    response = await fetch(new URL("api/" + operation, base), {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify(params),
      signal: signal ?? null,
    });
    answer = exactly(await response.text());
  } catch (error) {
    if (signal?.aborted) throw error;
    throw unreachable();
  }
  if (answer.ok) return answer.result;
  throw new ApiError(answer.error.code, answer.error.message, response.status, Number(response.headers.get("Retry-After") ?? 0));
}

// exactly reads JSON and keeps all digits of long numbers, which stand in other systems' ids
// that pages send along: as text, where a number of JavaScript would lose some.
function exactly(text: string) {
  const keep = (_: string, value: unknown, context?: { source?: string }) =>
    typeof value === "number" && context?.source && /\d[\d.]{15}/.test(context.source) ? context.source : value;
  return JSON.parse(text, /\d[\d.]{15}/.test(text) ? keep : undefined);
}
