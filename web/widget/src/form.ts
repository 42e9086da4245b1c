import type { Config } from './config'
import { h } from './dom'
import { tooLong } from './length'
import type { Name, Translate } from './strings'

/** What a person has entered. */
export interface Text {
  title: string
  description: string
  email: string
  /** Whether the person wants e-mail about the idea, and its language. */
  notify?: boolean
  locale?: string
}

type Input = HTMLInputElement | HTMLTextAreaElement

export interface Form {
  element: HTMLElement
  /** The extras replace these two elements. */
  similar: HTMLElement
  files: HTMLElement
  title: HTMLInputElement
  text(): Text
  /** Replaces what it is given. */
  fill(text: Partial<Text>, notify?: boolean): void
  /** The value of the hidden field, which people leave empty. */
  website(): string
  /** Shows what is missing or invalid, and returns whether all is valid. */
  check(): boolean
  /** Shows or hides the e-mail field. Verified people get mail without it. */
  ask(asked: boolean, verified?: boolean): void
  alert(text?: string): void
  busy(on: boolean): void
}

const address = /^[^\s@]+@[^\s@]+\.[^\s@]+$/

export function createForm({ widget, mail, sharing }: Config, t: Translate, changed: () => void, submit: () => void): Form {
  const title = h('input', { autocomplete: 'off', autofocus: true, dir: 'auto' })
  const description = h('textarea', { dir: 'auto', placeholder: t('description_hint') })
  const email = h('input', { type: 'email', autocomplete: 'email', placeholder: t('email_hint') })
  const tick = h('input', { type: 'checkbox', input: need })
  const tickField = h('label', { class: 'tick' }, tick, t('notify'))
  const website = h('input', { name: 'website', tabindex: -1, autocomplete: 'off' })
  const banner = h('p', { class: 'alert', role: 'alert' })
  const send = h('button', { class: 'primary', click: submit }, t('send'))
  const similar = h('div')
  const files = h('div')
  const emailField = field(email, 'email')
  const details = field(description, 'description')
  details.classList.toggle('tall', sharing != 'none')
  const fields = h('div', { class: 'fields' },
    banner, field(title, 'title', true), similar, details, files, emailField, tickField,
    h('div', { class: 'unseen', 'aria-hidden': true }, website))
  // Not a form element, because frames without allow-forms do not submit forms.
  const element = h('div', { class: 'form', input: changed, keypress: pressed }, fields, h('div', { class: 'foot' }, send))

  const ticked = () => !tickField.hidden && tick.checked

  function field(input: Input, name: Name, required = false): HTMLElement {
    const id = `${name}-problem`
    input.id = name
    input.setAttribute('aria-describedby', id)
    input.oninput = () => complain(input, excess(input))
    const label = h('label', { for: name }, t(name), ' ', h('small', {}, t('optional')))
    const element = h('div', { class: 'field' }, label, input, h('p', { id, class: 'error' }))
    setRequired(input, required)
    return element
  }

  /** The label says so for readers, and the attribute for screen readers. */
  function setRequired(input: HTMLElement, on: boolean): void {
    const optional = input.parentElement!.firstChild!.lastChild as HTMLElement
    optional.hidden = on
    input.ariaRequired = String(on)
    complain(input)
  }

  /** Mail needs an address. */
  function need(): void {
    setRequired(email, widget.require_email || ticked())
  }

  function excess({ id, value }: Input): string {
    return tooLong(t, value.trim(), id == 'title' ? 200 : 10_000)
  }

  function complain(input: HTMLElement, text = ''): void {
    const problem = input.parentElement!.lastChild!
    problem.textContent = text
    input.ariaInvalid = String(!!text)
  }

  /** Enter sends, as in a form. An input method that uses Enter to choose a word causes no keypress. */
  function pressed({ key, target }: KeyboardEvent): void {
    if (key == 'Enter' && (target as Element).matches('input')) submit()
  }

  /** Scrolls only as far as necessary. */
  function reveal(part?: Element | null): void {
    part?.scrollIntoView({ block: 'nearest' })
  }

  return {
    element,
    similar,
    files,
    title,
    text: () => ({
      title: title.value, description: description.value, email: email.value, ...(ticked() && { notify: true, locale: t('lang') }),
    }),
    fill(text, notify = tick.checked) {
      tick.checked = notify
      for (const input of [title, description, email]) input.value = text[input.id as 'title'] ?? input.value
      complain(title)
      need()
    },
    website: () => website.value,
    check() {
      const typed = email.value.trim()
      complain(title, title.value.trim() ? excess(title) : t('title_missing'))
      complain(description, excess(description))
      const valid = emailField.hidden || (typed ? address.test(typed) : email.ariaRequired == 'false')
      complain(email, valid ? '' : t(typed ? 'email_invalid' : 'email_missing'))
      const first = element.querySelector<HTMLElement>('[aria-invalid=true]')
      first?.focus()
      reveal(first?.parentElement) // with the message
      return !first
    },
    ask(asked, verified) {
      emailField.hidden = !asked
      tickField.hidden = !mail || !asked && !verified
      need()
    },
    alert(text = '') {
      banner.textContent = text
      reveal(banner)
    },
    busy(on) {
      if (on) send.focus()
      fields.inert = on
      element.ariaBusy = send.ariaDisabled = String(on)
      send.textContent = t(on ? 'sending' : 'send')
    },
  }
}
