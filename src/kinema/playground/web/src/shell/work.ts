// How far a file is that the server makes while the scene goes on.

import { element, make } from "./dom";

export class Work {
  private readonly text = make("span");
  private readonly bar = make("progress", { max: 1 });
  private readonly box = make("div", { id: "work", hidden: true }, this.text, this.bar);

  constructor() {
    this.box.dataset["testid"] = "work";
    this.box.setAttribute("role", "status");
    element("stage").append(this.box);
  }

  /** share: 0 to 1, which is done. */
  show(file: string, share: number): void {
    this.box.hidden = share >= 1;
    this.text.textContent = `Baking ${file}: ${Math.round(100 * share)} %`;
    this.bar.value = share;
  }

  hide(): void {
    this.box.hidden = true;
  }
}
