// Progress, banners and notices.

import { element, make } from "./dom";

const NOTICE_MS = 6000;
const PROGRESS_AFTER_MS = 300;

export class Signs {
  isConnected = false;
  private readonly banner = element("banner");
  private readonly noticeBox = element("notice");
  private readonly progressBox = element("progress");
  private over = false;
  private timer = 0;
  private soon = 0;

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

  progress(done: number, count: number, what: string): void {
    clearTimeout(this.soon);
    // Short work needs no message.
    if (done >= count) this.progressBox.hidden = true;
    else this.soon = window.setTimeout(() => (this.progressBox.hidden = false), PROGRESS_AFTER_MS);
    const [text, bar] = [this.progressBox.querySelector("p")!, this.progressBox.querySelector("progress")!];
    text.textContent = `Compiling for this machine (first use only): ${what}`;
    bar.max = count;
    bar.value = done;
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
    this.timer = window.setTimeout(hide, NOTICE_MS);
  }
}
