import { useSyncExternalStore } from "react";

import { base } from "./base";
import { ApiError, send, type Params, type Result } from "./call";
import type { Role } from "./types";

// The access token lives in this module's memory only, the refresh token in a cookie that
// scripts cannot read.

export type Me = Pick<Result<"auth-me">, "user" | "account" | "role">;

// expired: somebody was logged in here whose session has ended; what they were doing is
// still on the page.
type State = { phase: "starting" } | { phase: "out" } | { phase: "in" | "expired"; me: Me };

const cookie = { "X-Token-Transport": "cookie" };
const tabs = new BroadcastChannel("gatherkit-session");

let token = "";
let state: State = { phase: "starting" };
let refreshing: Promise<string> | undefined;
let waiting: { resolve(token: string): void; reject(error: Error): void }[] = [];
const listeners = new Set<() => void>();

function change(next: State): void {
  state = next;
  for (const listener of listeners) listener();
}

tabs.onmessage = ({ data }: MessageEvent<{ token: string; user: string } | "out">) => {
  if (data === "out") {
    token = "";
    change("me" in state ? { phase: "expired", me: state.me } : { phase: "out" });
  } else if ("me" in state && state.me.user.id === data.user) {
    enter(data.token, state.me);
  } else if (state.phase !== "starting") {
    location.reload(); // somebody else has logged in
  }
};

function enter(fresh: string, me: Me): void {
  token = fresh;
  change({ phase: "in", me });
  for (const { resolve } of waiting.splice(0)) resolve(fresh);
}

// entered takes the result of a login.
async function entered(result: { access_token: string }): Promise<void> {
  const me = await send("auth-me", {}, { Authorization: "Bearer " + result.access_token });
  tabs.postMessage({ token: result.access_token, user: me.user.id });
  if ("me" in state && state.me.user.id !== me.user.id) location.assign(base.href); // nothing on the page is theirs
  else enter(result.access_token, me);
}

export async function logIn(email: string, password: string): Promise<void> {
  await entered(await send("auth-login", { email, password }, cookie));
}

export async function setUp(params: Params<"setup-create-owner">): Promise<void> {
  await entered(await send("setup-create-owner", params, cookie));
}

export async function join(params: Params<"auth-accept-invite">): Promise<void> {
  await entered(await send("auth-accept-invite", params, cookie));
}

export async function logOut(): Promise<void> {
  try {
    await send("auth-logout", {}, { Authorization: "Bearer " + (await freshToken()), ...cookie });
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 401)) throw error;
  }
  token = "";
  tabs.postMessage("out");
  change({ phase: "out" });
}

// refresh gets a new access token for the cookie: one tab at a time, and one call at a time
// in this tab. A tab that waited takes the token that another one got meanwhile.
function refresh(stale: string): Promise<string> {
  refreshing ??= exclusively(async () => {
    if (token !== stale) return token;
    const fresh = (await send("auth-refresh", {}, cookie)).access_token;
    token = fresh;
    if ("me" in state) tabs.postMessage({ token: fresh, user: state.me.user.id });
    return fresh;
  }).finally(() => (refreshing = undefined));
  return refreshing;
}

// Locks are for secure pages only; elsewhere the service itself lets two tabs refresh at once.
function exclusively<T>(run: () => Promise<T>): Promise<T> {
  return "locks" in navigator ? (navigator.locks.request("gatherkit-refresh", run) as Promise<T>) : run();
}

// start finds out who is logged in.
export async function start(): Promise<void> {
  try {
    const fresh = await refresh("");
    enter(fresh, await send("auth-me", {}, { Authorization: "Bearer " + fresh }));
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 401)) throw error;
    change({ phase: "out" });
  }
}

// freshToken waits for the login when nobody is logged in.
export function freshToken(): Promise<string> {
  return token ? Promise.resolve(token) : new Promise((resolve, reject) => waiting.push({ resolve, reject }));
}

// replaceToken returns the next token in the place of one that was refused.
export async function replaceToken(refused: string): Promise<string> {
  if (token && token !== refused) return token;
  try {
    return await refresh(refused);
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 401)) throw error;
    token = "";
    if ("me" in state) change({ phase: "expired", me: state.me });
    return freshToken();
  }
}

// reloadMe asks again what the person may do, after a refusal.
export async function reloadMe(): Promise<void> {
  const held = await freshToken();
  enter(held, await send("auth-me", {}, { Authorization: "Bearer " + held }));
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function usePhase(): State {
  return useSyncExternalStore(subscribe, () => state);
}

export const roles: Role[] = ["viewer", "member", "admin", "owner"];

// useSession is for pages behind the login.
export function useSession(): Me & { can(least: Role): boolean } {
  const now = usePhase();
  if (!("me" in now)) throw new Error("useSession is for pages behind the login");
  const { me } = now;
  return { ...me, can: (least) => roles.indexOf(me.role) >= roles.indexOf(least) };
}
