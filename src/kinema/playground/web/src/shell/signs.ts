// Banners and notices.

import { element, make } from "./dom";

/** Milliseconds for which a text is shown, and one with a button: a page that opens slowly is still to show it. */
const NOTICE_MS = 6000;
const ASKED_MS = 20_000;

export class Signs {
  isConnected = false;
  private readonly banner = element("banner");
  private readonly noticeBox = element("notice");
  private over = false;
  private timer = 0;

  constructor(private readonly again: () => void) {}

  connected(connected: boolean): void {
    this.isConnected = connected;
    if (connected) this.over = false;
    this.banner.hidden = connected || this.over ? connected : false;
    if (!connected && !this.over) this.banner.replaceChildren("The server is gone. This page reconnects as soon as it is back.");
  }

  /** Show that the session has ended, with a button to start again. */
  ended(message: string): void {
    this.over = true;
    const button = make("button", { textContent: "Start again", className: "wide" });
    button.dataset["testid"] = "again";
    button.onclick = () => this.again();
    this.banner.replaceChildren(make("p", { textContent: message }), button);
    this.banner.hidden = false;
  }

  /** Show a text with a button: until another one comes, or for a while. */
  ask(text: string, button: string, action: () => void, forAWhile = false): void {
    const more = make("button", { textContent: button, className: "wide" });
    more.onclick = () => {
      this.noticeBox.hidden = true;
      action();
    };
    this.notice(text, more);
    if (!forAWhile) clearTimeout(this.timer);
  }

  notice(text: string, more?: HTMLElement): void {
    this.noticeBox.replaceChildren(make("p", { textContent: text }), ...(more ? [more] : []));
    this.noticeBox.hidden = false;
    clearTimeout(this.timer);
    const hide = () => {
      // Stays while the user reads it.
      if (this.noticeBox.matches(":hover, :focus-within")) this.timer = window.setTimeout(hide, NOTICE_MS);
      else this.noticeBox.hidden = true;
    };
    this.timer = window.setTimeout(hide, more ? ASKED_MS : NOTICE_MS);
  }
}
