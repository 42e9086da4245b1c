import type { Translate } from './strings'

/** Says how many characters of a text are too many, counted as the service does, or nothing. */
export function tooLong(t: Translate, text: string, most: number): string {
  const count = [...text].length - most
  return count > 0 ? t('too_long', { count: count.toLocaleString(t('lang')) }) : ''
}
