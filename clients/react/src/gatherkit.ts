"use client";

import { useEffect, useMemo, useRef } from "react";
import type { BootOptions, Events, GatherkitFunction, Identity, Prefill } from "./widget.js";

export type * from "./widget.js";

export interface WidgetOptions extends Omit<BootOptions, "key" | "base" | "identity"> {
  /** The address of the Gatherkit service. */
  url: string;
  /** The app's API key. */
  appKey: string;
  /**
   * The person who uses the page. With `getToken`, also pass `external_id`: if it changes, somebody else has logged
   * in, and the widget asks for a new token.
   */
  identity?: Identity | null | undefined;
  /** Functions that are called for the widget's events. */
  on?: { [K in keyof Events]?: (detail: Events[K]) => void };
}

export interface Widget {
  /** Opens the panel. `prefill` never overwrites what the person typed. */
  open: (prefill?: Prefill) => void;
  /** Closes the panel. The widget keeps what the person typed. */
  close: () => void;
}

/** Shows the widget while it is rendered. */
export function Gatherkit(options: WidgetOptions): null {
  useGatherkit(options);
  return null;
}

/** Shows the widget while the component is rendered, and returns functions that open and close it. */
export function useGatherkit(options: WidgetOptions): Widget {
  const { url, appKey, on: _, identity, ...settings } = options;
  const { getToken, ...claims } = identity ?? {};
  const latest = useRef(options);
  useEffect(() => {
    latest.current = options;
  });

  useEffect(() => {
    load(url);
    // A render can add a function for an event, so the widget reports all of them.
    for (const name of names) {
      command("on", name, (detail) => (latest.current.on?.[name] as ((detail: unknown) => void) | undefined)?.(detail), { key: appKey });
    }
    return () => command("destroy", { key: appKey }); // also removes the listeners
  }, [url, appKey]);

  const set = JSON.stringify(settings);
  useEffect(() => {
    command("boot", { ...(JSON.parse(set) as typeof settings), base: url, key: appKey });
  }, [url, appKey, set]);

  const known = identity && JSON.stringify({ ...claims, getToken: Boolean(getToken) });
  useEffect(() => {
    const person = latest.current.identity ?? undefined;
    const ask = () => latest.current.identity?.getToken?.() ?? "";
    command("identify", person?.getToken ? { ...person, getToken: ask } : person, { key: appKey });
  }, [url, appKey, known]);

  return useMemo(() => ({
    open: (prefill) => command("open", { key: appKey, ...(prefill && { prefill }) }),
    close: () => command("close", { key: appKey }),
  }), [appKey]);
}

const names: (keyof Events)[] = ["ready", "open", "close", "queued", "submit", "vote", "news", "error"];

/** Runs a command, or keeps it until the widget has loaded. */
const command = ((...parameters: Parameters<GatherkitFunction>) => {
  const queue: GatherkitFunction = (...call: unknown[]) => {
    queue.q = [...Array.from(queue.q ?? []), call];
  };
  window.Gatherkit ??= queue;
  window.Gatherkit(...parameters);
}) as GatherkitFunction;

/** Loads the widget. Browsers load a module once. */
function load(url: string): void {
  const module = url.replace(/\/+$/, "") + "/widget.mjs";
  import(/* @vite-ignore */ /* webpackIgnore: true */ module).catch((error: unknown) => {
    console.warn(`Gatherkit: cannot load ${module}.`, error); // the page works without the widget
  });
}
