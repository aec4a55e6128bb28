// What is known of the character: its name, which joints were found to be what, and how sure that is.

import { element, make } from "../shell/dom";
import type { JointDots } from "./joint_dots";

/** A motion of another body: `BorrowedMotion` in scenes/borrowed_motion.py. */
export interface MotionDescription {
  file: string;
  /** Of the body that it was made for. */
  parents: number[];
  names: string[];
  /** Its joints by those of the character that follow them. */
  joints: Record<string, string>;
  /** Joints of that body by their roles. */
  roles: Record<string, number[]>;
  warnings: string[];
}

export interface Role {
  name: string;
  joints: number[];
  /** 0 to 1; null where it was given, not found. */
  confidence: number | null;
}

export class CharacterCard {
  readonly element = make("section", { className: "card", ariaLabel: "The character" });
  private readonly name = make("strong");
  private readonly list = make("ul", { className: "roles" });
  private readonly doubts = make("p", { className: "doubts" });

  private readonly forget = make("button", { textContent: "\u00d7", title: "Forget this file", ariaLabel: "Forget this file", hidden: true });

  private readonly motion = make("div", { className: "motion", hidden: true });

  constructor(choose: () => void, forget: () => void, private readonly follow: (joint: string, source: string) => void, private readonly dots: JointDots) {
    const open = make("button", { className: "wide", textContent: "Open a file" });
    open.dataset["testid"] = "open-file";
    open.title = "A character of yours";
    open.onclick = choose;
    this.forget.dataset["testid"] = "forget-file";
    this.forget.onclick = forget;
    this.list.dataset["testid"] = "roles";
    this.element.append(make("header", {}, this.name, this.forget, open), this.motion, this.list, this.doubts);
  }

  /** With the roles, or the name alone. guest: whether it is from a file. */
  open(open: boolean, guest: boolean): void {
    this.forget.hidden = !guest;
    this.list.hidden = this.doubts.hidden = !open;
  }

  /** A motion of another body that is played, with what is doubtful about it; null for none. names: of the joints. */
  showMotion(motion: MotionDescription | null, names: string[]): void {
    this.motion.hidden = !motion;
    if (!motion) this.dots.open = false;
    if (!motion) return;
    const count = Object.keys(motion.joints).length;
    const map = make("button", { textContent: "Mapping", title: "Which joint follows which" });
    map.dataset["testid"] = "mapping";
    map.onclick = () => this.showMapping(motion, names);
    const point = make("button", { textContent: "Click joints", title: "Click a joint of the character, then the one of the motion that it is to follow; the same one again: none" });
    point.dataset["testid"] = "click-joints";
    const pressed = () => point.setAttribute("aria-pressed", String(this.dots.open));
    point.onclick = () => {
      this.dots.open = !this.dots.open;
      pressed();
    };
    pressed();
    const text = make("span", { textContent: `${motion.file}: ${count} of ${names.length} joints follow it. ${motion.warnings.join(" ")}` });
    this.motion.replaceChildren(text, point, map);
    if (element<HTMLDialogElement>("mapping-sheet").open) this.showMapping(motion, names);
  }

  private showMapping({ file, names: sources, joints }: MotionDescription, names: string[]): void {
    const sheet = element<HTMLDialogElement>("mapping-sheet");
    const at = sheet.scrollTop;
    const close = make("button", { textContent: "Close", className: "wide" });
    close.onclick = () => sheet.close();
    const row = (joint: string) => {
      const options = ["", ...sources].map((name) => make("option", { value: name, textContent: name || "none" }));
      const select = make("select", {}, ...options);
      select.value = joints[joint] ?? "";
      select.dataset["testid"] = `follow-${joint}`;
      select.onchange = () => this.follow(joint, select.value);
      return make("label", {}, make("span", { textContent: joint }), select);
    };
    const followed = names.filter((name) => joints[name]);
    const others = make("details", {}, make("summary", { textContent: "Joints that follow none" }), ...names.filter((name) => !joints[name]).map(row));
    sheet.replaceChildren(make("h2", { id: "mapping-title", textContent: `What follows ${file}` }), ...followed.map(row), others, close);
    if (!sheet.open) sheet.showModal();
    sheet.scrollTop = at;
  }

  /** ways: which way the limb of a hand or foot bends, by its name. */
  show(name: string, roles: Role[], doubts: string[], colour: (role: number) => number, ways: Record<string, string>): void {
    this.name.textContent = name;
    this.name.title = name;
    this.list.replaceChildren(...roles.map((role, i) => row(role, colour(i), ways)));
    this.doubts.textContent = doubts.join(" ");
  }
}

function row({ name, joints, confidence }: Role, colour: number, ways: Record<string, string>): HTMLElement {
  const dot = make("i");
  dot.style.background = `#${colour.toString(16).padStart(6, "0")}`;
  const [group, side] = name.split(".") as [string, string?];
  const text = side ? `${side.replaceAll("_", " ")} ${group.replace(/s$/, "")}` : group;
  const sure = confidence === null ? "given" : `${Math.round(100 * confidence)} %`;
  const way = side && ways[`${group === "legs" ? "foot" : "hand"} ${side}`];
  const item = make("li", { title: `${joints.length} joint${joints.length === 1 ? "" : "s"}` }, dot, make("span", { textContent: text }), make("b", { textContent: sure }));
  if (way) item.append(make("small", { textContent: way }));
  if (confidence !== null && confidence < 0.6) item.className = "doubtful";
  return item;
}
