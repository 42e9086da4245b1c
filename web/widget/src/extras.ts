import { createPicker } from './attachments'
import css from './extras.css'
import english from './locales/en.json'
import type { Extras } from './parts'
import { createSender } from './sender'
import { createSimilar } from './similar'
import { createVotes } from './votes'

const extras: Extras = { css, english, createPicker, createSender, createSimilar, createVotes }
export default extras
