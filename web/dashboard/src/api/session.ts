import { useSyncExternalStore } from "react";

import { base } from "./base";
import { outbox } from "./outbox";
import { ApiError, send, type Params, type Result } from "./send";
import type { Role } from "./types";

// The access token is only in the memory of this module. The refresh token is in a cookie that
// scripts cannot read.

export type Me = Pick<Result<"auth-me">, "user" | "account" | "role" | "mail">;

// expired: the session has ended, and the user's page is still open. left: the user has logged
// out, and changes wait in memory for the next login.
type State = { phase: "starting" } | { phase: "out" } | { phase: "in" | "expired" | "left"; me: Me };

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
    // A log-out applies to all tabs, because others may use the same machine.
    if (state.phase !== "out") void leave();
  } else if (!("me" in state)) {
    if (state.phase === "out") location.reload(); // another tab has logged in
  } else if (state.me.user.id === data.user) {
    enter(data.token, state.me);
  } else {
    void forget();
  }
};

function enter(fresh: string, me: Me): void {
  token = fresh;
  outbox.answered();
  change({ phase: "in", me });
  for (const resolve of waiting.splice(0)) resolve(fresh);
}

// leave ends the page of a user who has logged out.
async function leave(): Promise<void> {
  token = "";
  if ("me" in state && outbox.stop()) change({ phase: "left", me: state.me });
  else await forget();
}

// forget loads the start page, because the content of this page, its undo history and its waiting
// calls must not pass to the next user. The same user returns to this page after a login.
function forget(): Promise<never> {
  token = "";
  outbox.drop();
  for (const key of Object.keys(sessionStorage)) if (!key.startsWith(addressKey)) sessionStorage.removeItem(key);
  if ("me" in state) sessionStorage.setItem(addressKey + state.me.user.id, location.pathname + location.search);
  change({ phase: "starting" });
  setTimeout(() => location.assign(base.href)); // once no form is left that would block it
  return new Promise(() => undefined);
}

const addressKey = "gatherkit.address.";

// comeBack shows the page that a user left, unless another one was opened since. The stored text
// has no origin, but a path could begin with two slashes.
function comeBack(me: Me): void {
  const key = addressKey + me.user.id;
  const address = sessionStorage.getItem(key);
  sessionStorage.removeItem(key);
  if (!address || location.href !== base.href) return;
  const url = new URL(location.origin + address);
  if (url.origin === base.origin) history.replaceState(history.state, "", url);
}

const fetchMe = (access: string) => send("auth-me", {}, { Authorization: "Bearer " + access });

const unauthorized = (error: unknown) => error instanceof ApiError && error.status === 401;

// authenticate logs a user in. It excludes refreshes, whose cookie could overwrite the new one.
async function authenticate<O extends "auth-login" | "setup-create-owner" | "auth-accept-invite">(
  operation: O,
  params: Params<O>,
): Promise<void> {
  const { access_token } = await exclusively(() => send(operation, params, cookie));
  const me = await fetchMe(access_token);
  tabs.postMessage({ token: access_token, user: me.user.id });
  if ("me" in state && state.me.user.id !== me.user.id) await forget();
  comeBack(me);
  enter(access_token, me);
}

export const logIn = (email: string, password: string) => authenticate("auth-login", { email, password });
export const setUp = (params: Params<"setup-create-owner">) => authenticate("setup-create-owner", params);
export const join = (params: Params<"auth-accept-invite">) => authenticate("auth-accept-invite", params);

export async function logOut(): Promise<void> {
  const end = (access: string) => send("auth-logout", {}, { Authorization: "Bearer " + access, ...cookie });
  try {
    const held = token;
    if (held) await end(held).catch(async (error) => (unauthorized(error) ? end(await refresh(held)) : Promise.reject(error)));
  } catch (error) {
    if (!unauthorized(error)) throw error; // otherwise the session has already ended
  }
  tabs.postMessage("out");
  await leave();
}

// refresh gets a new access token with the cookie, once at a time in all tabs. A tab that waited
// uses the token that another tab has received.
function refresh(stale: string): Promise<string> {
  refreshing ??= exclusively(async () => {
    if (token !== stale) return token;
    const fresh = (await send("auth-refresh", {}, cookie)).access_token;
    if ("me" in state) {
      const me = await fetchMe(fresh);
      if (me.user.id !== state.me.user.id) return forget(); // the cookie is now another user's
      enter(fresh, me);
      tabs.postMessage({ token: fresh, user: me.user.id });
    }
    return (token = fresh);
  }).finally(() => (refreshing = undefined));
  return refreshing;
}

// Only secure pages have locks. Elsewhere, the service itself lets two tabs refresh at once.
function exclusively<T>(run: () => Promise<T>): Promise<T> {
  return "locks" in navigator ? (navigator.locks.request("gatherkit-refresh", run) as Promise<T>) : run();
}

// start restores the session of the cookie.
export async function start(): Promise<void> {
  try {
    const fresh = await refresh("");
    const me = await fetchMe(fresh);
    comeBack(me);
    enter(fresh, me);
  } catch (error) {
    if (!unauthorized(error)) throw error;
    change({ phase: "out" });
  }
}

// freshToken returns the access token, and waits for a login if there is none.
export function freshToken(): Promise<string> {
  return token ? Promise.resolve(token) : new Promise((resolve) => waiting.push(resolve));
}

// replaceToken returns a new token after the service refused one.
export async function replaceToken(refused: string): Promise<string> {
  if (token && token !== refused) return token;
  try {
    return await refresh(refused);
  } catch (error) {
    if (!unauthorized(error)) throw error;
    token = "";
    outbox.stop();
    if (state.phase === "in") change({ phase: "expired", me: state.me });
    return freshToken();
  }
}

// reloadMe reads the user and the role again.
export async function reloadMe(): Promise<void> {
  const held = await freshToken();
  const me = await fetchMe(held);
  if (token === held) enter(held, me); // otherwise the user logged out, or a refresh did this
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function usePhase(): State {
  return useSyncExternalStore(subscribe, () => state);
}

export const roles: Role[] = ["viewer", "member", "admin", "owner"];

// useSession returns the logged-in user. Use it only on pages that need a login.
export function useSession(): Me & { can(least: Role): boolean } {
  const now = usePhase();
  if (!("me" in now)) throw new Error("useSession needs a logged-in user");
  const { me } = now;
  return { ...me, can: (least) => roles.indexOf(me.role) >= roles.indexOf(least) };
}
