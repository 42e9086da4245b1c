import { createPicker } from './attachments'
import type { Config } from './config'
import css from './extras.css'
import type { Form, Text } from './form'
import english from './locales/en.json'
import { openOutbox } from './outbox'
import { adopt } from './sheet'
import { shield } from './shield'
import { createSimilar } from './similar'
import type { Place, Tools } from './tools'
import type { Entry } from './entries'

/** What a panel has besides the text of its form. */
export type Extras = ReturnType<typeof extend>

/** Adds similar requests and files to a form, as far as the app has them. */
function extend(tools: Tools & Place, form: Form) {
  const { t } = tools
  const { sharing, widget }: Config = tools.config
  const similar = sharing != 'none' && createSimilar(tools, form.text, leave)
  const picker = widget.allow_file_uploads && createPicker(tools)
  adopt(tools.dialog, css)
  if (similar) form.similar.replaceWith(similar.element)
  if (picker) form.files.replaceWith(picker.element)

  const find = (name: string) => form.element.querySelector<HTMLElement>(name)!
  find('textarea').onkeydown = ({ key, ctrlKey, metaKey }) => {
    if (key == 'Enter' && (ctrlKey || metaKey)) find('.primary').click()
  }

  /** Closes the panel without what was typed: the person has voted for the same idea. */
  function leave(): void {
    form.fill({ title: '', description: '' })
    if (picker) picker.restore([])
    form.element.dispatchEvent(new Event('input'))
    tools.dialog.close()
  }

  /** Fills the form with a refused idea. */
  function giveBack({ fields, files, refusal }: Entry): void {
    const { code, message, file } = refusal!
    form.fill(fields as Partial<Text>, !!fields.notify)
    if (picker) picker.restore(files)
    // The address that the page set may be invalid.
    if (code == 'widget.invalid_email') form.ask(true)
    form.element.dispatchEvent(new Event('input'))
    tools.show(form.element)
    const reason = file ? t('files_refused', { name: file }) : code == 'too_old' ? t(code) : message
    form.alert(`${t('refused_heading')}. ${reason}`)
  }

  return { ...similar, ...picker, giveBack, shield: () => shield(tools.dialog) }
}

export default { english, extend, openOutbox }
