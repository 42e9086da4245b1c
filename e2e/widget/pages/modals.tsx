// Modal dialogs of pages, each with a field and a button that opens the widget.
import Modal from '@mui/material/Modal'
import * as Radix from '@radix-ui/react-dialog'
import { createFocusTrap } from 'focus-trap'
import { type ReactNode, useState } from 'react'
import { createRoot } from 'react-dom/client'

const inside = <><input id="inside" aria-label="Inside" /><button className="feedback">Tell us</button></>

function WithRadix() {
  return (
    <Radix.Root>
      <Radix.Trigger>Open</Radix.Trigger>
      <Radix.Portal>
        <Radix.Overlay />
        <Radix.Content aria-describedby={undefined}><Radix.Title>Dialog</Radix.Title>{inside}</Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

function WithMui() {
  const [open, setOpen] = useState(false)
  return (
    <>
      <button onClick={() => setOpen(true)}>Open</button>
      <Modal open={open} onClose={() => setOpen(false)}><div role="dialog" aria-label="Dialog">{inside}</div></Modal>
    </>
  )
}

function WithFocusTrap() {
  return (
    <>
      <button onClick={() => createFocusTrap('#trapped', { onDeactivate: () => document.querySelector('#trapped')!.setAttribute('hidden', '') }).activate()}>
        Open
      </button>
      <div id="trapped" role="dialog" aria-label="Dialog">{inside}</div>
    </>
  )
}

function WithNative() {
  return (
    <>
      <button onClick={() => document.querySelector('dialog')!.showModal()}>Open</button>
      <dialog aria-label="Dialog">{inside}</dialog>
    </>
  )
}

const kinds: Record<string, () => ReactNode> = { radix: WithRadix, mui: WithMui, 'focus-trap': WithFocusTrap, native: WithNative }
const Kind = kinds[location.pathname.slice(1)]!
createRoot(document.querySelector('#root')!).render(<Kind />)
