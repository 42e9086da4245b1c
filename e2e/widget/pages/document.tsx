// A whole document that React renders on the server and hydrates in the browser.
export default function Document({ url, appKey, trigger = '' }: { url: string; appKey: string; trigger?: string }) {
  return (
    <html lang="en">
      <head>
        <title>Shop</title>
        <link rel="icon" href="data:," />
        <script async src={`${url}/widget.js`} data-key={appKey} data-trigger={trigger} />
      </head>
      <body>
        <main>
          <h1>A shop</h1>
          <p>What it sells.</p>
        </main>
        <script type="module" src="/hydrate.js" />
      </body>
    </html>
  )
}
