import { createPicker } from './attachments'
import english from './locales/en.json'
import { createSender } from './sender'
import { createSimilar } from './similar'

export default { english, createPicker, createSender, createSimilar }
