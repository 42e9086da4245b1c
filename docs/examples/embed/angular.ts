// Angular. The widget starts with the component, and disappears with it.
import { afterNextRender, Component, type OnDestroy } from '@angular/core'

const key = 'gk_…'
const source = 'https://feedback.example.com/widget.mjs'
const load = async () => (await import(/* @vite-ignore */ /* webpackIgnore: true */ source)).default

@Component({
  selector: 'app-feedback',
  template: '<button type="button" (click)="open()">Ideas?</button>',
})
export class Feedback implements OnDestroy {
  constructor() {
    // In the browser only, not on the server.
    afterNextRender(async () => (await load())('boot', { key, launcher: 'none', metadata: { plan: 'pro' } }))
  }

  async open() {
    (await load())('open')
  }

  async ngOnDestroy() {
    (await load())('destroy', { key })
  }
}
