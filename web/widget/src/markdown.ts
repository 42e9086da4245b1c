import type { h as create } from './dom'

/** The mark that begins an item, a heading or a quote, and the text behind it. */
const block = /^\s*(?:(?<item>[-*+]|\d{1,9}[.)])|(?<heading>#{1,6})|(?<quote>>)) +(?<rest>.*)/

/** A character of an address in a text. Addresses have the punctuation of other scripts only encoded. */
const inAddress = /[!-;=?-~]|(?![\p{Terminal_Punctuation}\p{Quotation_Mark}\p{Ps}\p{Pe}…])[^\0-\x7f\s]/u

/**
 * An escaped character, code, emphasis, a link or an image, and an address. Lengths are limited, so that the
 * time for a text does not grow faster than its length.
 */
const part = RegExp([
  /\\(?<escaped>[!-/:-@[-`{-~])/,
  /`(?<code>[^`]{1,1000})`/,
  /(?<!\w)(?<mark>\*\*|__|~~|\*(?!\*)|_)(?=\S)(?<inside>.{0,1000}?\S)\k<mark>(?![\w*])/,
  /(?<image>!?)\[(?<label>[^[\]]{1,1000})\]\((?<target>(?:[^\s()]|\([^\s()]{0,99}\)){1,1000})(?: "[^"]{0,1000}")?\)/,
  RegExp(`(?<!\\w)(?<address>https?://(?:${inAddress.source}){1,1000}(?<![.,:;!?'"*_)\\]]))`),
].map(({ source }) => source).join('|'), 'giu')

/**
 * Makes elements of a text in Markdown: paragraphs, in which every line break counts, lists, headings, quotes,
 * code, emphasis and links. Everything else stays text, also HTML. Images are their descriptions, because other
 * sites would learn who reads them.
 */
export function markdown(h: typeof create, text: string): HTMLElement[] {
  const blocks: HTMLElement[] = []
  /** The block that the next line continues. */
  let open: HTMLElement | undefined

  function inline(text: string, linked = false): (Node | string)[] {
    let end = 0
    const parts = [...text.matchAll(part)].flatMap(({ 0: whole, index, groups }) => {
      const before = text.slice(end, index)
      end = index + whole.length
      return [before, ...marked(groups!, linked)]
    })
    return [...parts, text.slice(end)]
  }

  function marked(groups: Record<string, string>, linked: boolean): (Node | string)[] {
    const { escaped, code, mark, inside, image, label, target, address } = groups
    if (escaped) return [escaped]
    if (code) return [h('code', {}, code)]
    if (mark) return [h(mark == '~~' ? 'del' : mark[1] ? 'strong' : 'em', {}, ...inline(inside!, linked))]
    const href = target ?? address!
    const shown = label ? inline(label, true) : [href]
    if (linked || image || !/^https?:\/\//i.test(href)) return shown
    return [h('a', { href, target: '_blank', rel: 'noreferrer nofollow' }, ...shown)]
  }

  function add(line: string): void {
    const { item, heading, quote, rest = line } = line.match(block)?.groups ?? {}
    const parts = inline(rest.trim())
    if (!line.trim()) open = undefined
    else if (item) {
      const tag = item[1] ? 'ol' : 'ul'
      if (blocks.at(-1)?.localName != tag) blocks.push(h(tag))
      open = h('li', item[1] ? { value: parseInt(item) } : {}, ...parts)
      blocks.at(-1)!.append(open)
    } else if (open && !heading && (!quote || open.localName == 'blockquote')) open.append(h('br'), ...parts)
    else {
      const made = h(heading ? 'h4' : quote ? 'blockquote' : 'p', {}, ...parts)
      blocks.push(made)
      open = heading ? undefined : made
    }
  }

  for (const [i, piece] of text.split(/^ {0,3}```.*\n?/m).entries()) {
    open = undefined
    if (i % 2) blocks.push(h('pre', {}, h('code', {}, piece)))
    else piece.split('\n').forEach(add)
  }
  return blocks
}
