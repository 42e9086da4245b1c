// Playwright's support of an unmodified Firefox, over WebDriver BiDi, is experimental. This file
// works around what is missing.
import { firefox } from 'playwright-core'

// launchFirefox starts the Firefox at the path FIREFOX.
export async function launchFirefox(timeout) {
  const browser = await firefox.launch({
    channel: 'moz-firefox',
    executablePath: `${import.meta.dirname}/firefox.sh`,
    timeout,
    firefoxUserPrefs: { 'ui.prefersReducedMotion': 1 },
  })
  // Playwright sets the media features of every context and page, but Firefox ESR does not know
  // the command. The preference above replaces the one that the tests need.
  const session = Object.getPrototypeOf(browser._connection.toImpl(browser)._browserSession)
  const { send } = session
  session.send = async function (method, params) {
    return method === 'emulation.setMediaFeaturesOverride' ? {} : send.call(this, method, params)
  }
  // Playwright fills in fields by setting their value, which React does not notice. Its function is
  // replaced by one that inserts text as a user does.
  browser.on('context', (context) => context.addInitScript(() => {
    Object.defineProperty(window, '__pw_bidiInsertText', {
      get: () => (text) => { document.execCommand('insertText', false, text) },
      set: () => {},
    })
  }))
  return browser
}
