import { absolute, base } from "../api/base";

// Code for customers' pages and programs. The address of the service is the one that served
// this page.
const service = base.href.replace(/\/$/, "");

export const scriptTag = (key: string): string => `<script async src="${absolute("widget.js")}" data-key="${key}"></script>`;

export const moduleTag = (key: string): string => `<script type="module">
import Gatherkit from '${absolute("widget.mjs")}'
Gatherkit('boot', { key: '${key}' })
</script>`;

export const backendCall = (key: string): string => `curl ${service}/api/widget-submit-request \\
  -H 'X-API-Key: ${key}' \\
  -H 'Content-Type: application/json' \\
  -d '{"title": "Dark mode", "description": "My eyes hurt at night.", "email": "ada@example.com"}'`;

export const policy = `script-src ${base.origin}; connect-src ${base.origin}`;

export const signing = `import jwt from 'jsonwebtoken'

app.get('/feedback-token', (request, response) => {
  const { id, email, name } = request.user // the logged-in user
  response.type('text').send(jwt.sign(
    { sub: String(id), email, name },
    process.env.GATHERKIT_IDENTITY_SECRET,
    { algorithm: 'HS256', expiresIn: '10m' },
  ))
})`;

export const identifying = `<script>
window.Gatherkit ??= function () { (Gatherkit.q ??= []).push(arguments) }
Gatherkit('identify', { getToken: () => fetch('/feedback-token').then((answer) => answer.text()) })
</script>`;
