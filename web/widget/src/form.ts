import type { Config } from './config'
import { h } from './dom'
import type { Name, Translate } from './strings'

/** What a person has typed. */
export interface Text {
  title: string
  description: string
  email: string
}

export interface Form {
  element: HTMLElement
  /** The extras replace these two elements. */
  similar: HTMLElement
  attachments: HTMLElement
  title: HTMLInputElement
  text(): Text
  fill(text: Partial<Text>): void
  /** The value of the hidden field, which people leave empty. */
  website(): string
  /** Shows what is missing or invalid, and returns whether all is valid. */
  complete(): boolean
  /** Shows or hides the e-mail field. */
  askEmail(ask: boolean): void
  alert(text?: string): void
  busy(on: boolean): void
}

const address = /^[^\s@]+@[^\s@]+\.[^\s@]+$/

export function createForm({ widget }: Config, t: Translate, changed: () => void, submit: () => void): Form {
  const title = h('input', { id: 'title', maxlength: 200, autocomplete: 'off', autofocus: true, dir: 'auto', 'aria-required': 'true' })
  const description = h('textarea', { id: 'description', maxlength: 10000, rows: 4, dir: 'auto', placeholder: t('description_hint') })
  const email = h('input', {
    id: 'email',
    type: 'email',
    maxlength: 254,
    autocomplete: 'email',
    placeholder: t('email_hint'),
    'aria-required': String(widget.require_email),
  })
  const website = h('input', { name: 'website', tabindex: -1, autocomplete: 'off' })
  const banner = h('p', { class: 'alert', role: 'alert' })
  const send = h('button', { class: 'primary', click: submit }, t('send'))
  const similar = h('div')
  const attachments = h('div')
  const emailField = field(email, 'email', !widget.require_email)
  const fields = h('div', { class: 'fields' },
    banner, field(title, 'title'), similar, field(description, 'description', true), attachments, emailField,
    h('div', { class: 'unseen', 'aria-hidden': 'true' }, website))
  // Not a form element, because frames without allow-forms do not submit forms.
  const element = h('div', { class: 'form', input: changed, keypress: pressed }, fields, h('div', { class: 'foot' }, send))

  function field(input: HTMLElement, name: Name, optional = false): HTMLElement {
    const id = `${name}-problem`
    const problem = h('p', { id, class: 'error' })
    input.setAttribute('aria-describedby', id)
    input.oninput = () => complain(input)
    const label = h('label', { for: name }, t(name), ' ', optional ? h('small', {}, t('optional')) : '')
    return h('div', { class: 'field' }, label, input, problem)
  }

  function complain(input: HTMLElement, text = ''): void {
    const problem = input.nextElementSibling as HTMLElement
    problem.textContent = text
    input.setAttribute('aria-invalid', String(!!text))
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
    attachments,
    title,
    text: () => ({ title: title.value, description: description.value, email: email.value }),
    fill(text) {
      for (const input of [title, description, email]) input.value = text[input.id as keyof Text] ?? input.value
      complain(title)
      complain(email)
    },
    website: () => website.value,
    complete() {
      const mail = email.value.trim()
      const asked = !emailField.hidden
      complain(title, title.value.trim() ? '' : t('title_missing'))
      complain(email, !asked || address.test(mail) || !mail && !widget.require_email ? '' : t(mail ? 'email_invalid' : 'email_missing'))
      const first = element.querySelector<HTMLElement>('[aria-invalid=true]')
      first?.focus()
      reveal(first?.parentElement) // with the message
      return !first
    },
    askEmail(ask) {
      emailField.hidden = !ask
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
