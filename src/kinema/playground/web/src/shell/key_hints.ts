// The scene's keys as buttons: a reminder with a keyboard, the only way without one.

import { element, make } from "./dom";

export class KeyHints {
  private readonly host = element("key-hints");

  constructor(private readonly press: (key: string) => void) {}

  show(keys: [key: string, text: string][]): void {
    this.host.replaceChildren(...keys.map(([key, text]) => this.button(key, text)));
  }

  private button(key: string, text: string): HTMLElement {
    const name = key.length === 1 ? key.toUpperCase() : key;
    const button = make("button", { className: "key" }, make("kbd", { textContent: name }), make("span", { textContent: text }));
    button.dataset["testid"] = `key-${key}`;
    button.onclick = () => this.press(key);
    return button;
  }
}
