// Joints of two bodies as dots to click: first one of the character, then the one of the motion that it is to follow.

import { make } from "../shell/dom";

/** The button of a joint. */
interface Dot {
  joint: number;
  button: HTMLButtonElement;
}

type Place = (joint: number) => [x: number, y: number];

export class JointDots {
  readonly element = make("div", { className: "joint-dots", hidden: true });
  private own: Dot[] = [];
  private others: Dot[] = [];
  private chosen = "";
  private follows: Record<string, string> = {};

  constructor(private readonly follow: (joint: string, source: string) => void) {
    this.element.dataset["testid"] = "joint-dots";
  }

  get open(): boolean {
    return !this.element.hidden;
  }

  set open(open: boolean) {
    this.element.hidden = !open;
    this.choose("");
  }

  /** names, sources: of the joints of both bodies, with the colours of those that have a role. follows: sources by names. */
  show(names: string[], sources: string[], colours: (number | undefined)[], others: (number | undefined)[], follows: Record<string, string>): void {
    this.follows = follows;
    this.own = dots(names, colours, (name) => this.choose(this.chosen === name ? "" : name), "dot");
    this.others = dots(sources, others, (name) => this.connect(name), "follow");
    this.element.replaceChildren(...[...this.own, ...this.others].map(({ button }) => button));
    this.choose(names.includes(this.chosen) ? this.chosen : "");
  }

  private connect(source: string): void {
    if (!this.chosen) return;
    const joint = this.chosen;
    this.choose("");
    this.follow(joint, this.follows[joint] === source ? "" : source);
  }

  private choose(name: string): void {
    this.chosen = name;
    for (const { button } of this.own) button.setAttribute("aria-pressed", String(button.title === name));
    for (const { button } of this.others) {
      button.disabled = !name;
      button.classList.toggle("followed", name !== "" && this.follows[name] === button.title);
    }
  }

  /** Put all dots where their joints are on the page. */
  place(own: Place, other: Place): void {
    if (!this.open) return;
    const box = this.element.getBoundingClientRect();
    for (const [all, at] of [[this.own, own], [this.others, other]] as const) {
      for (const { joint, button } of all) {
        const [x, y] = at(joint);
        button.style.transform = `translate(${x - box.left}px, ${y - box.top}px)`;
      }
    }
  }
}

function dots(names: string[], colours: (number | undefined)[], click: (name: string) => void, kind: string): Dot[] {
  return names.flatMap((name, joint) => {
    const colour = colours[joint];
    if (colour === undefined) return [];
    const button = make("button", { title: name, ariaLabel: name, onclick: () => click(name) });
    button.style.background = `#${colour.toString(16).padStart(6, "0")}`;
    button.dataset["testid"] = `${kind}-${name}`;
    return [{ joint, button }];
  });
}
