// A root layout, as in Next.js: React renders the whole document on the server and hydrates it in the browser.
// The widget adds its element where React does not mind.
import type { ReactNode } from 'react'

export default function RootLayout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <head>
        <title>Acme</title>
        <script async src="https://feedback.example.com/widget.js" data-key="gk_…" data-trigger=".feedback" />
      </head>
      <body>{children}</body>
    </html>
  )
}
