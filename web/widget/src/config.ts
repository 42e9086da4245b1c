import { answer } from './api'

/** The public configuration of the app. */
export interface Config {
  app_id: string
  widget: {
    primary_color: string
    position: string
    button_text: string
    show_email_field: boolean
    require_email: boolean
    allow_file_uploads: boolean
  }
  sharing: string
  /** Whether the service sends mail. */
  mail?: boolean
  /** The entry of the changelog that was published last. */
  latest_entry: string | null
  /** The entry that was the last one when this browser first saw the widget, or when the person last saw what is new. */
  seen?: string | null
  uploads: { max_size: number; max_count: number; content_types: string[] }
}

export const fetchConfig = (base: string, key: string) => answer<Config>(`${base}widget/config/${key}.json`, 'app_id')
