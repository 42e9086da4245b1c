// React 18 and 19, also in StrictMode. The package is in clients/react.
import { useGatherkit } from '@gatherkit/react'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'

const service = { url: 'https://feedback.example.com', appKey: 'gk_…' }

function App() {
  const { open } = useGatherkit({
    ...service,
    launcher: 'none', // your button is enough
    metadata: { plan: 'pro' },
    on: { submit: ({ request }) => console.log(`Sent: ${request.title}`) },
  })
  return <button onClick={() => open()}>Ideas?</button>
}

createRoot(document.getElementById('root')!).render(<StrictMode><App /></StrictMode>)
