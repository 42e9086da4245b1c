import { createPicker } from './attachments'
import css from './extras.css'
import type { Extras } from './parts'
import { createSender } from './sender'
import { createSimilar } from './similar'
import { createVotes } from './votes'

const extras: Extras = { css, createPicker, createSender, createSimilar, createVotes }
export default extras
