import { type App, start } from './app'
import type { BootOptions, Events, GatherkitFunction, Identity, Prefill, Settings, Target } from './public'

interface Listener {
  event: string
  listener: (detail: any) => void
  key?: string
}

/**
 * Sets window.Gatherkit once, even if several scripts contain the widget. Then it boots the
 * app of its tag and runs the queued calls.
 */
export function install(home?: string, first?: BootOptions): GatherkitFunction {
  const before = window.Gatherkit as (GatherkitFunction & { live?: true }) | undefined
  if (before?.live) {
    if (first?.key) before('boot', { base: home, ...first })
    return before
  }
  const apps = new Map<string, App>()
  let listeners: Listener[] = []
  /** Settings for all widgets, which also apply to later ones. */
  let common: Settings & { identity?: Identity } = {}

  function emit(event: string, detail: { key: string }): void {
    for (const { listener } of listeners.filter((one) => one.event == event && (one.key ?? detail.key) == detail.key)) {
      try {
        listener(detail)
      } catch (error) {
        reportError(error) // a faulty listener must not stop the others
      }
    }
    dispatchEvent(new CustomEvent(`gatherkit:${event}`, { detail }))
  }

  const named = ({ key }: Target = {}): App[] => key ? [apps.get(key) ?? []].flat() : [...apps.values()]

  const commands = {
    boot(options: BootOptions) {
      const { key, base = home } = options
      const app = apps.get(key)
      if (app) {
        app.set(options)
        if (options.identity) app.identify(options.identity)
      } else if (key && base) {
        apps.set(
          key,
          start({ ...common, ...options }, new URL(base.replace(/\/?$/, '/'), location.href).href, (event, detail) =>
            emit(event, { key, ...detail }),
          ),
        )
      } else {
        console.warn("Gatherkit: call Gatherkit('boot', { key, base })")
      }
    },
    open(options: Target & { prefill?: Prefill } = {}) {
      named(options)[0]?.open(options.prefill)
    },
    close(target?: Target) {
      named(target).forEach((app) => app.close())
    },
    identify(identity?: Identity, target?: Target) {
      if (!target?.key) common.identity = identity
      named(target).forEach((app) => app.identify(identity))
    },
    set(settings: Settings, target?: Target) {
      if (!target?.key) common = { ...common, ...settings }
      named(target).forEach((app) => app.set(settings))
    },
    on(event: keyof Events, listener: Listener['listener'], { key }: Target = {}) {
      listeners.push({ event, listener, key })
    },
    off(event: keyof Events, listener: Listener['listener'], { key }: Target = {}) {
      listeners = listeners.filter((one) => one.event != event || one.listener != listener || one.key != key)
    },
    destroy(target: Target = {}) {
      named(target).forEach((app) => app.destroy())
      const { key } = target
      listeners = listeners.filter((one) => key && key != one.key)
      if (key) apps.delete(key)
      else {
        apps.clear()
        common = {}
      }
    },
  }

  const gatherkit = ((command: keyof typeof commands, ...args: [any, any, any]) => {
    if (commands[command]) commands[command](...args)
    else console.warn(`Gatherkit: no command ${command}`)
  }) as GatherkitFunction & { live?: true }
  gatherkit.live = true
  window.Gatherkit = gatherkit
  const calls = [...(before?.q ?? []) as unknown[][]]
  // A tag without a key is for pages that boot by themselves, before it or later.
  if (first && (first.key || calls.every(([command]) => command != 'boot'))) commands.boot(first)
  for (const call of calls) {
    try {
      (gatherkit as Function)(...call)
    } catch (error) {
      reportError(error) // a faulty call must not stop the others
    }
  }
  return gatherkit
}
