import type { Kept } from './entries'
import type { Place, SenderTools, Tools } from './tools'

/** The field for files. */
export interface Picker {
  element: HTMLElement
  files(): Kept[]
  restore(files: Kept[]): void
  /** Says that files of the last page are lost. */
  miss(names: string[]): void
  progress(file: number, part: number): void
}

const timeout = 600_000

/** The first bytes of each type. Text has no signature. */
const signatures: [type: string, pattern: RegExp][] = [
  ['image/png', /^\x89PNG\r\n\x1a\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF[^]{4}WEBP/],
  ['application/pdf', /^%PDF-/],
]

/** The type of a file by its bytes, because names can lie. */
export async function typeOf(file: File): Promise<string | undefined> {
  const bytes = String.fromCharCode(...new Uint8Array(await file.slice(0, 4096).arrayBuffer()))
  const found = signatures.find(([, pattern]) => pattern.test(bytes))
  if (found) return found[0]
  return file.type == 'text/plain' && bytes && !bytes.includes('\0') ? file.type : undefined
}

/** Sends the bytes, with XMLHttpRequest because fetch reports no progress. */
function transfer(
  tools: SenderTools,
  { url, method, headers }: { url: string; method: string; headers: Record<string, string> },
  blob: Blob,
  progress: (part: number) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open(method, new URL(url, tools.base))
    request.timeout = timeout
    request.responseType = 'json'
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value)
    request.upload.onprogress = ({ loaded, total }) => progress(loaded / total)
    request.onloadend = () => {
      const { status, response } = request
      if (status >= 200 && status < 300) resolve()
      // Storage services do not answer in JSON; response is null then.
      else reject(tools.failure(status, response?.error, request.getResponseHeader('Retry-After')))
    }
    request.send(blob)
  })
}

/** Uploads a file, and returns the id of the upload. */
export async function upload(tools: SenderTools, { name, type, blob }: Kept, progress: (part: number) => void): Promise<string> {
  const params = { filename: name, content_type: type, size: blob.size }
  const { upload: target } = await tools.call<{ upload: any }>('widget-create-upload', params)
  await transfer(tools, target, blob, progress)
  return target.id
}

/** Creates the field, which also takes the files that are pasted or dropped in the panel. */
export function createPicker({ h, icon, t, config, say, dialog }: Tools & Place): Picker {
  const { max_size, max_count, content_types } = config.uploads
  const kinds = content_types.join(', ').replace(/(image|application)\//g, '')
  const input = h('input', { type: 'file', multiple: true, accept: content_types.join(), hidden: true, change: chosen })
  const list = h('ul', { class: 'files' })
  const problem = h('p', { class: 'error', role: 'alert' })
  const button = h('button', { class: 'add', click: () => input.click() },
    icon('M8 12.5l6-6a3 3 0 0 1 4.3 4.3l-8 8a5 5 0 0 1-7-7l7.6-7.6'), h('span', {}, t('files_add'), ' ', h('small', {}, t('files_drop'))))
  const element = h('div', { class: 'field', role: 'group', 'aria-label': t('files') }, button, list, problem, input)
  let rows: { kept: Kept; bar: HTMLProgressElement }[] = []

  function size(bytes: number): string {
    const kilo = Math.ceil(bytes / 1024)
    const [count, unit] = kilo < 1000 ? [kilo, 'kilobyte'] : [kilo / 1024, 'megabyte']
    return count.toLocaleString(t('lang'), { style: 'unit', unit, maximumFractionDigits: 1 })
  }

  async function chosen(): Promise<void> {
    const files = [...input.files!]
    input.value = '' // so that the same file can be chosen again
    await add(files)
  }

  async function add(files: Iterable<File>): Promise<void> {
    const refused: string[] = []
    for (const file of files) {
      const name = file.name.slice(-200)
      const type = await typeOf(file)
      if (!type || !content_types.includes(type)) refused.push(t('files_type', { name, kinds }))
      else if (file.size > max_size) refused.push(t('files_size', { name, size: size(max_size) }))
      else if (rows.length >= max_count) refused.push(t('files_count', { name, count: max_count }))
      else append({ name, type, blob: file })
    }
    problem.textContent = refused.join('\n')
    problem.scrollIntoView({ block: 'nearest' })
  }

  function take(event: { clipboardData?: DataTransfer; dataTransfer?: DataTransfer } & Event): void {
    const data = event.clipboardData ?? event.dataTransfer
    if (!data?.types.includes('Files') || !element.isConnected || element.closest('[inert]')) return
    event.preventDefault()
    if (event.type != 'dragover') add(data.files)
  }

  /** Tells the form, which keeps a draft. */
  function changed(): void {
    element.dispatchEvent(new Event('input', { bubbles: true }))
  }

  function append(kept: Kept): void {
    const { name, blob } = kept
    const bar = h('progress', { max: 1, value: 0, 'aria-label': name, hidden: true })
    const row = { kept, bar }
    const item = h('li', {}, h('span', {}, name, h('small', {}, size(blob.size)), bar),
      h('button', { class: 'icon', 'aria-label': t('files_remove', { name }), click: drop }, icon('M6 6l12 12M18 6L6 18')))

    function drop(): void {
      rows = rows.filter((other) => other != row)
      item.remove()
      problem.textContent = ''
      button.focus()
      changed()
    }
    rows.push(row)
    list.append(item)
    say(name)
    changed()
  }

  for (const type of ['paste', 'dragover', 'drop']) dialog.addEventListener(type, take)

  return {
    element,
    files: () => rows.map(({ kept }) => kept),
    restore(files) {
      rows = []
      list.replaceChildren()
      problem.textContent = ''
      files.forEach(append)
    },
    miss(names) {
      problem.textContent = t('files_lost', { names: names.join(', ') })
    },
    progress(file, part) {
      const bar = rows[file]?.bar
      if (!bar) return
      bar.hidden = false
      bar.value = part
    },
  }
}
