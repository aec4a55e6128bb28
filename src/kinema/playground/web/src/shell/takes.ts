// What the user wants of pictures, films and GIFs: controls of the page's own, the same in every scene.

import type { Control, Value } from "../protocol";
import type { Finish } from "../view";
import { make } from "./dom";

/** Their group in the panel: closed until it is wanted. */
export const TAKES = "Pictures and films";
/** Pixels of the longer side, by what the user chooses. */
const SIDES: Record<string, number> = { "as on the screen": 0, "1920 pixels": 1920, "2560 pixels": 2560, "3840 pixels (4K)": 3840 };
const BACKGROUNDS: Record<string, Finish["background"]> = { "as on the screen": "shown", transparent: "clear", "transparent, no ground": "alone" };
/** Lengths of a film to choose from, seconds. */
const LENGTHS = [3, 5, 10, 15, 60];
/** Distance of the menu of lengths from its button, and from the edge of the page, CSS pixels. */
const AWAY = 6;
/** Keys of a menu, and by how many of its lines they go on. */
const STEPS: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };

/** How a film is taken. seconds: of the scene, infinite for one that the user stops. from: seconds of the clip at which it
 * starts; null: wherever the clip is. */
export interface Take {
  seconds: number;
  from: number | null;
}

export class Takes {
  private readonly values: Record<string, Value> = { take_handles: true, take_background: "as on the screen", take_size: "as on the screen" };
  private readonly lengths = make("div", { id: "lengths", popover: "auto", role: "menu", ariaLabel: "How long" });

  constructor() {
    document.body.append(this.lengths);
    this.lengths.onkeydown = (event) => this.move(event);
  }

  get controls(): Control[] {
    const [group, labels] = [TAKES, []];
    const choice = (name: string, label: string, options: string[]): Control => ({ kind: "choice", name, label, group, labels, options, value: String(this.values[name]) });
    return [
      { kind: "switch", name: "take_handles", label: "Handles and labels", group, value: Boolean(this.values["take_handles"]) },
      choice("take_size", "Size", Object.keys(SIDES)),
      choice("take_background", "Background", Object.keys(BACKGROUNDS)),
    ];
  }

  /** Set one of them. Returns false for the controls of scenes. */
  set(name: string, value: Value): boolean {
    if (!(name in this.values)) return false;
    this.values[name] = value;
    return true;
  }

  get finish(): Finish {
    const background = BACKGROUNDS[String(this.values["take_background"])] ?? "shown";
    return { handles: this.values["take_handles"] === true, background, side: SIDES[String(this.values["take_size"])] ?? 0 };
  }

  /** Ask beside a button how long a film is to be. controls: of the scene; those of a timeline say what a loop is. */
  ask(button: HTMLElement, controls: Control[], start: (take: Take) => void): void {
    const loop = loopOf(controls);
    const takes: [string, Take][] = [["Until stopped", { seconds: Infinity, from: null }], ...LENGTHS.map((seconds): [string, Take] => [`${seconds} s`, { seconds, from: null }])];
    if (loop) takes.push(["One loop of the clip", loop]);
    this.lengths.replaceChildren(...takes.map(([textContent, take]) => {
      const choose = make("button", { textContent, role: "menuitem" });
      choose.onclick = () => {
        this.lengths.hidePopover();
        start(take);
      };
      return choose;
    }));
    const { right, top } = button.getBoundingClientRect();
    Object.assign(this.lengths.style, { right: `${Math.max(innerWidth - right, AWAY)}px`, bottom: `${innerHeight - top + AWAY}px` });
    this.lengths.showPopover();
    (this.lengths.firstElementChild as HTMLElement).focus();
  }

  /** Arrow keys go from length to length, and a Tab leaves the menu as it leaves any other. */
  private move(event: KeyboardEvent): void {
    if (event.key === "Tab") return this.lengths.hidePopover();
    const step = STEPS[event.key];
    if (!step) return;
    const all = [...this.lengths.children] as HTMLElement[];
    all[(all.indexOf(document.activeElement as HTMLElement) + step + all.length) % all.length]!.focus();
    event.preventDefault();
  }
}

/** One loop of the clip that is played; null where there is none. */
function loopOf(controls: Control[]): Take | null {
  const value = (name: string) => Number(controls.find((control) => control.name === name)?.value ?? 0);
  const from = value("loop_start");
  const seconds = (value("loop_end") - from) / value("speed");
  return seconds > 0 && seconds < Infinity ? { seconds, from } : null;
}
