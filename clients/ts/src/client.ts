import type { operations, paths } from "./schema.js";

export type * from "./schema.js";

/** The name of an operation, such as `requests-list`. */
export type Operation = { [P in keyof paths]: P extends `/api/${infer O}` ? Extract<O, keyof operations> : never }[keyof paths];

type Body<O extends Operation> = NonNullable<operations[O]["requestBody"]>;

/** The parameters of an operation. */
export type Params<O extends Operation> = [Body<O>] extends [never]
  ? Record<string, never>
  : Body<O> extends { content: { "application/json": infer P } } ? P : never;

/** What an operation returns. */
export type Result<O extends Operation> = operations[O]["responses"][200]["content"]["application/json"]["result"];

/** An operation that returns one list in pages. */
export type Listing = Exclude<
  { [O in Operation]: Result<O> extends { next_cursor: string } ? O : never }[Operation],
  "widget-board" // has two lists
>;

/** A record of a list. */
export type Item<O extends Listing> = Extract<Result<O>[keyof Result<O>], readonly unknown[]>[number];

export interface Options {
  /** The address of the service, such as `https://feedback.example.com`. */
  url: string;
  /** An access token: the secret of a token, or `access_token` of a login. */
  token?: string | undefined;
  /** The API key of an app, for operations of the widget. */
  apiKey?: string | undefined;
  /** How often a call is sent again; 3 by default. */
  retries?: number;
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch;
  /** Replaces waiting, for tests. The time is in milliseconds. */
  sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** A call that failed. `cause` is the error of `fetch`, if there was one. */
export class GatherkitError extends Error {
  constructor(
    /** A code of the API reference, or `network` if it was not Gatherkit that answered. */
    readonly code: string,
    message: string,
    /** The HTTP status, or 0 if there was no answer. */
    readonly status: number,
    /** Seconds after which the service asks to call again; 0 if it does not say. */
    readonly retryAfter = 0,
    /** Identifies the call in the service's log; empty if it was not Gatherkit that answered. */
    readonly requestId = "",
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = "GatherkitError";
  }
}

type Arguments<O extends Operation> = {} extends Params<O>
  ? [params?: Params<O>, signal?: AbortSignal]
  : [params: Params<O>, signal?: AbortSignal];

const longestWait = 120; // seconds

/** The statuses of outages. A proxy in front of the service sends some of them. */
const outages = [0, 429, 502, 503, 504];

/** Calls a Gatherkit service. */
export class Gatherkit {
  constructor(private readonly options: Options) {}

  /**
   * Calls an operation and returns its result. It throws a `GatherkitError` if the service refuses the call or
   * cannot be reached. It sends a call again that was refused because of a limit, after the time that the service
   * names. After an outage, it sends a call again only if that has an `idempotency_key`, because the service may
   * already have carried it out.
   */
  async call<O extends Operation>(operation: O, ...[params = {} as Params<O>, signal]: Arguments<O>): Promise<Result<O>> {
    const { idempotency_key: key } = params as { idempotency_key?: string | null };
    return (await this.repeat(operation, params as object, Boolean(key), signal)) as Result<O>;
  }

  /** Yields the records of all pages of a list. Its calls are also sent again after an outage. */
  async *each<O extends Listing>(
    operation: O, ...[params = {} as Params<O>, signal]: Arguments<O>
  ): AsyncGenerator<Item<O>, void, undefined> {
    let next = params as object;
    for (;;) {
      const page = (await this.repeat(operation, next, true, signal)) as Record<string, unknown>;
      yield* (Object.values(page).find(Array.isArray) ?? []) as Item<O>[];
      if (!page["next_cursor"]) return;
      next = { ...(params as object), cursor: page["next_cursor"] };
    }
  }

  private async repeat(operation: string, params: object, safe: boolean, signal: AbortSignal | undefined): Promise<unknown> {
    const { retries = 3, sleep = pause } = this.options;
    for (let tries = 0; ; tries++) {
      try {
        return await this.send(operation, params, signal);
      } catch (error) {
        const again = error instanceof GatherkitError && tries < retries && error.retryAfter <= longestWait &&
          (error.code === "api.rate_limited" || (safe && outages.includes(error.status)));
        if (!again) throw error;
        await sleep(1000 * (error.retryAfter || 2 ** tries), signal);
      }
    }
  }

  private async send(operation: string, params: object, signal: AbortSignal | undefined): Promise<unknown> {
    const { url, token, apiKey, fetch = globalThis.fetch } = this.options;
    const headers: Record<string, string> = { "Content-Type": "application/json" };
    if (token !== undefined) headers["Authorization"] = "Bearer " + token;
    if (apiKey !== undefined) headers["X-API-Key"] = apiKey;
    let answer: Response;
    let text: string;
    try {
      answer = await fetch(url.replace(/\/+$/, "") + "/api/" + operation, {
        method: "POST", headers, body: JSON.stringify(params), redirect: "error", signal: signal ?? null,
      });
      text = await answer.text();
    } catch (cause) {
      if (signal?.aborted) throw cause;
      throw new GatherkitError("network", `Cannot reach ${url}; check the address and the connection.`, 0, 0, "", { cause });
    }
    const envelope = parse(text);
    if (envelope?.ok) return envelope.result;
    const { code, message } = envelope?.error ?? {
      code: "network", message: `${url} answers with status ${answer.status}, and not as Gatherkit does; check the address.`,
    };
    const retryAfter = Number(answer.headers.get("Retry-After")) || 0;
    throw new GatherkitError(code, message, answer.status, retryAfter, answer.headers.get("X-Request-Id") ?? "");
  }
}

interface Envelope {
  ok?: boolean;
  result?: unknown;
  error?: { code: string; message: string };
}

/** Returns undefined for what is no JSON, such as a page of a proxy. */
function parse(text: string): Envelope | null | undefined {
  try {
    return JSON.parse(text) as Envelope | null;
  } catch {
    return undefined;
  }
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
