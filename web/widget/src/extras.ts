import { createPicker } from './attachments'
import css from './extras.css'
import english from './locales/en.json'
import { createSender } from './sender'
import { createSimilar } from './similar'
import { createVotes } from './votes'

export default { css, english, createPicker, createSender, createSimilar, createVotes }
