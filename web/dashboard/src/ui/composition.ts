// While an input method composes a word, its keys are its own: Enter chooses a word, and Escape drops it. No part of
// the page sees them. Safari sends the last one after the composition has ended, with the key code 229 (UI Events, 7.3.1).
window.addEventListener(
  "keydown",
  (event) => {
    if (event.isComposing || event.keyCode === 229) event.stopImmediatePropagation();
  },
  { capture: true },
);

export {}; // so that it is a module
