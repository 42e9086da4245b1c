const begun: Record<string, Promise<any>> = {}

/** Does work once. If it fails, the result is undefined, and the next call tries again. */
export function once<T>(name: string, work: () => Promise<T>): Promise<T | undefined> {
  return begun[name] ??= work().catch(() => void delete begun[name])
}
