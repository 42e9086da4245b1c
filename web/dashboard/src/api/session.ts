import { useSyncExternalStore } from "react";

import { base } from "./base";
import { ApiError, send, type Params, type Result } from "./send";
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
let waiting: ((token: string) => void)[] = [];
const listeners = new Set<() => void>();

function change(next: State): void {
  state = next;
  for (const listener of listeners) listener();
}

tabs.onmessage = ({ data }: MessageEvent<{ token: string; user: string } | "out">) => {
  if (data === "out") {
    // Who logs out means all that they have left open, too, on a machine that others use.
    if (state.phase !== "out") void forget();
  } else if (!("me" in state)) {
    if (state.phase === "out") location.reload(); // somebody has logged in
  } else if (state.me.user.id === data.user) {
    enter(data.token, state.me);
  } else {
    void forget();
  }
};

function enter(fresh: string, me: Me): void {
  token = fresh;
  change({ phase: "in", me });
  for (const resolve of waiting.splice(0)) resolve(fresh);
}

// forget makes the page anew: what it shows, what can be undone and which calls wait for a
// login is all of one person, and not for the next one.
function forget(): Promise<never> {
  token = "";
  sessionStorage.clear();
  change({ phase: "starting" });
  setTimeout(() => location.assign(base.href)); // when nothing is on the page that would ask to stay
  return new Promise(() => undefined);
}

const whoHas = (access: string) => send("auth-me", {}, { Authorization: "Bearer " + access });

const unauthorized = (error: unknown) => error instanceof ApiError && error.status === 401;

// enterBy logs somebody in. No refresh is under way meanwhile, whose cookie could take the
// place of theirs.
async function enterBy<O extends "auth-login" | "setup-create-owner" | "auth-accept-invite">(
  operation: O,
  params: Params<O>,
): Promise<void> {
  const { access_token } = await exclusively(() => send(operation, params, cookie));
  const me = await whoHas(access_token);
  tabs.postMessage({ token: access_token, user: me.user.id });
  if ("me" in state && state.me.user.id !== me.user.id) await forget();
  enter(access_token, me);
}

export const logIn = (email: string, password: string) => enterBy("auth-login", { email, password });
export const setUp = (params: Params<"setup-create-owner">) => enterBy("setup-create-owner", params);
export const join = (params: Params<"auth-accept-invite">) => enterBy("auth-accept-invite", params);

export async function logOut(): Promise<void> {
  const end = (access: string) => send("auth-logout", {}, { Authorization: "Bearer " + access, ...cookie });
  try {
    const held = token;
    if (held) await end(held).catch(async (error) => (unauthorized(error) ? end(await refresh(held)) : Promise.reject(error)));
  } catch (error) {
    if (!unauthorized(error)) throw error; // else it has ended already
  }
  tabs.postMessage("out");
  await forget();
}

// refresh gets a new access token for the cookie: one tab at a time, and one call at a time
// in this tab. A tab that waited takes the token that another one got meanwhile.
function refresh(stale: string): Promise<string> {
  refreshing ??= exclusively(async () => {
    if (token !== stale) return token;
    const fresh = (await send("auth-refresh", {}, cookie)).access_token;
    if ("me" in state) {
      const me = await whoHas(fresh);
      if (me.user.id !== state.me.user.id) return forget(); // the cookie is all that tabs have in common
      enter(fresh, me);
      tabs.postMessage({ token: fresh, user: me.user.id });
    }
    return (token = fresh);
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
    enter(fresh, await whoHas(fresh));
  } catch (error) {
    if (!unauthorized(error)) throw error;
    change({ phase: "out" });
  }
}

// freshToken waits for the login when nobody is logged in.
export function freshToken(): Promise<string> {
  return token ? Promise.resolve(token) : new Promise((resolve) => waiting.push(resolve));
}

// replaceToken returns the next token in the place of one that was refused.
export async function replaceToken(refused: string): Promise<string> {
  if (token && token !== refused) return token;
  try {
    return await refresh(refused);
  } catch (error) {
    if (!unauthorized(error)) throw error;
    token = "";
    if ("me" in state) change({ phase: "expired", me: state.me });
    return freshToken();
  }
}

// reloadMe asks again what the person may do, after a refusal.
export async function reloadMe(): Promise<void> {
  const held = await freshToken();
  const me = await whoHas(held);
  if (token === held) enter(held, me); // else they have logged out, or the next token says it
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
