// The browser of all tests: Debian's, at the path in CHROMIUM, asking nobody for anything.
import { chromium } from 'playwright-core'

export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: [
      '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
      '--disable-background-networking', '--disable-component-update', '--disable-sync',
    ],
  })
}
