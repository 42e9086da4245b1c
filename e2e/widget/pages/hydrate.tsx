import { hydrateRoot } from 'react-dom/client'
import Document from './document'

declare global {
  interface Window {
    /** Hydrates the document with the properties that the server had. */
    hydrate(): void
    properties: { url: string; appKey: string }
    hydrated?: boolean
  }
}

window.hydrate = () => void hydrateRoot(document, <Document {...window.properties} />, {
  onRecoverableError: (error) => console.error(error),
})
