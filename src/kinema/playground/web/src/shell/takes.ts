// What the user wants of pictures, films and GIFs: controls of the page's own, the same in every scene.

import type { Control, Value } from "../protocol";
import type { Finish } from "../view";

/** Their group in the panel: closed until it is wanted. */
export const TAKES = "Pictures and films";
/** Pixels of the longer side, by what the user chooses. */
const SIDES: Record<string, number> = { "as on the screen": 0, "1920 pixels": 1920, "2560 pixels": 2560, "3840 pixels (4K)": 3840 };
const BACKGROUNDS: Record<string, Finish["background"]> = { "as on the screen": "shown", transparent: "clear", "transparent, no ground": "alone" };
const UNTIL_STOPPED = "until stopped";
const ONE_LOOP = "one loop of the clip";
/** Seconds of a film, by what the user chooses. */
const LENGTHS: Record<string, number> = { [UNTIL_STOPPED]: Infinity, "3 s": 3, "5 s": 5, "10 s": 10, "15 s": 15, "60 s": 60 };

/** How a film is taken. seconds: of the scene, infinite for one that the user stops. from: seconds of the clip at which it
 * starts; null: wherever the clip is. */
export interface Take {
  seconds: number;
  from: number | null;
}

export class Takes {
  private readonly values: Record<string, Value> = { take_handles: true, take_background: "as on the screen", take_size: "as on the screen", take_length: UNTIL_STOPPED };

  get controls(): Control[] {
    const [group, labels] = [TAKES, []];
    const choice = (name: string, label: string, options: string[]): Control => ({ kind: "choice", name, label, group, labels, options, value: String(this.values[name]) });
    return [
      { kind: "switch", name: "take_handles", label: "Handles and labels", group, value: Boolean(this.values["take_handles"]) },
      choice("take_size", "Size", Object.keys(SIDES)),
      choice("take_background", "Background", Object.keys(BACKGROUNDS)),
      choice("take_length", "Films and GIFs", [...Object.keys(LENGTHS), ONE_LOOP]),
    ];
  }

  /** Set one of them. Returns false for the controls of scenes. */
  set(name: string, value: Value): boolean {
    if (!(name in this.values)) return false;
    this.values[name] = value;
    return true;
  }

  /** A film keeps its background: few players show through it. */
  finish(isFilm: boolean): Finish {
    const background = isFilm ? "shown" : (BACKGROUNDS[String(this.values["take_background"])] ?? "shown");
    return { handles: this.values["take_handles"] === true, background, side: SIDES[String(this.values["take_size"])] ?? 0 };
  }

  /** controls: of the scene; those of a timeline say what a loop is. */
  take(controls: Control[]): Take {
    const length = String(this.values["take_length"]);
    if (length !== ONE_LOOP) return { seconds: LENGTHS[length] ?? Infinity, from: null };
    const value = (name: string) => Number(controls.find((control) => control.name === name)?.value ?? 0);
    const [from, speed] = [value("loop_start"), value("speed")];
    const seconds = (value("loop_end") - from) / speed;
    return seconds > 0 ? { seconds, from } : { seconds: 3, from: null };
  }
}
