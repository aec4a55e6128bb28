// The timeline of a scene with clips: which clip, where in it, how fast, which part is repeated, and stored poses.

import { array, type Frame } from "../frames";
import { TIMELINE, type Control, type Value } from "../protocol";
import type { Portrait } from "../view";
import { element, make, setIcon } from "./dom";
import { LayerRow, type Span } from "./layer_row";

/** Speeds to choose from. */
const SPEEDS = [0, 0.25, 0.5, 1, 1.5, 2];
/** Size of a stored pose's picture, CSS pixels. */
const PICTURE = 44;
/** Milliseconds for which a stored pose may be on its way: then the next new one is what was on the screen. */
const ON_ITS_WAY = 3000;

type Sliders = "time" | "loop_start" | "loop_end";

export interface TimelineActions {
  set(name: string, value: Value): void;
  /** Lay a stored pose over a part of the clip, or take it off. */
  layer(pose: number, span: Span | null): void;
  /** Let time stand still: the user moves it. */
  pause(): void;
  play(): void;
}

export class Timeline {
  private readonly host = element("timeline");
  private readonly clip = make("select", { title: "Clip" });
  private readonly speed = make("select", { title: "Speed" });
  private readonly sliders: Record<Sliders, HTMLInputElement>;
  private readonly clock = make("output");
  private readonly band = make("i", { className: "band" });
  private readonly poses = make("div", { className: "poses" });
  private readonly layers: LayerRow;
  private spans: (Span | null)[] = [];
  private duration = 0;
  /** The newest time that the user has moved to and that was not sent. */
  private wanted: number | null = null;
  private readonly pictures = new Map<number, string>();
  private numbers: number[] = [];
  private storedAt = -Infinity;
  /** The clip that was last played, but for the stored poses. */
  private lastClip = "";

  constructor(private readonly actions: TimelineActions) {
    this.sliders = { time: this.slider("time", "Time"), loop_start: this.slider("loop_start", "Repeat from here"), loop_end: this.slider("loop_end", "Repeat up to here") };
    this.sliders.time.oninput = () => {
      actions.pause();
      this.wanted = this.sliders.time.valueAsNumber;
    };
    for (const name of ["loop_start", "loop_end"] as const) this.sliders[name].oninput = () => actions.set(name, this.sliders[name].valueAsNumber);
    this.clip.onchange = () => actions.set("clip", this.clip.value);
    this.speed.onchange = () => actions.set("speed", Number(this.speed.value));
    for (const [name, select] of [["clip", this.clip], ["speed", this.speed]] as const) select.dataset["testid"] = name;
    const track = make("div", { className: "track" }, this.band, this.sliders.time, this.sliders.loop_start, this.sliders.loop_end);
    this.layers = new LayerRow((pose, span) => actions.layer(pose, span));
    this.host.append(this.clip, track, this.clock, this.speed, this.poses, this.layers.element);
  }

  private slider(name: Sliders, label: string): HTMLInputElement {
    const input = make("input", { type: "range", min: "0", step: "0.001", className: name, title: label, ariaLabel: label });
    input.dataset["testid"] = name;
    return input;
  }

  /** Show the scene's controls; hide where it has no clips. poses: the numbers of the stored poses. */
  show(controls: Control[], poses: number[], spans: (Span | null)[]): void {
    const named = new Map(controls.filter(({ group }) => group === TIMELINE).map((control) => [control.name, control]));
    this.host.hidden = named.size === 0;
    if (this.host.hidden) return;
    this.showChoices(named);
    for (const name of ["loop_start", "loop_end", "time"] as const) {
      const control = named.get(name);
      if (control?.kind !== "slider") continue;
      this.duration = control.high;
      this.sliders[name].max = String(control.high);
      this.sliders[name].disabled = control.high === 0;
      if (name !== "time" && !this.sliders[name].matches(":active")) this.sliders[name].valueAsNumber = control.value;
    }
    this.showBand();
    this.showPoses(poses, spans);
    this.layers.show(this.clip.value === "poses" ? [] : spans, this.duration);
  }

  private showChoices(named: Map<string, Control>): void {
    const [clip, speed] = [named.get("clip"), named.get("speed")];
    if (clip?.kind === "choice") {
      if (clip.options.join("\n") !== [...this.clip.options].map(({ value }) => value).join("\n")) {
        this.clip.replaceChildren(...clip.options.map((value, i) => make("option", { value, textContent: clip.labels[i] ?? value })));
      }
      this.clip.value = clip.value;
      if (clip.value !== "poses") this.lastClip = clip.value;
    }
    if (speed?.kind === "slider") {
      const speeds = [...new Set([...SPEEDS, speed.value])].sort((a, b) => a - b);
      this.speed.replaceChildren(...speeds.map((value) => make("option", { value: String(value), textContent: `${value}\u00d7` })));
      this.speed.value = String(speed.value);
    }
  }

  /** The part that is repeated. */
  private showBand(): void {
    const share = (name: Sliders) => (this.duration ? (100 * this.sliders[name].valueAsNumber) / this.duration : 0);
    const [start, end] = [share("loop_start"), share("loop_end")];
    this.band.style.left = `${start}%`;
    this.band.style.right = `${100 - end}%`;
    this.band.classList.toggle("part", start > 0.1 || end < 99.9);
  }

  /** Show a frame's time. At most one time that the user moves to goes out for each drawn frame. */
  drawn(frame: Frame): void {
    if (this.host.hidden) return;
    if (this.wanted !== null) this.actions.set("time", this.wanted);
    const now = this.wanted ?? array(frame, "clock")[0] ?? 0;
    this.wanted = null;
    if (!this.sliders.time.matches(":active")) this.sliders.time.valueAsNumber = now;
    const text = `${now.toFixed(2)} / ${this.duration.toFixed(2)} s`;
    if (this.clock.textContent !== text) this.clock.textContent = text;
  }

  // Stored poses.

  private showPoses(numbers: number[], spans: (Span | null)[]): void {
    const laid = (all: (Span | null)[]) => all.map((span) => span !== null).join();
    if (numbers.join() === this.numbers.join() && laid(spans) === laid(this.spans) && this.poses.childElementCount) return;
    this.numbers = numbers;
    this.spans = spans;
    this.buildPoses();
  }

  private buildPoses(): void {
    const store = this.action("store", "add", "Store pose", () => this.store("store"), "Store pose");
    const mirror = this.action("mirror_pose", "mirror", "Store the mirror image of this pose", () => this.store("mirror_pose"));
    const play = this.action("play-poses", "play", "Play poses one after the other", () => this.play(), "Play poses");
    this.poses.replaceChildren(store, mirror, ...this.numbers.map((number, i) => this.pose(number, i)), ...(this.numbers.length > 1 ? [play] : []));
  }

  private store(name: "store" | "mirror_pose"): void {
    if (name === "mirror_pose") this.actions.pause();
    this.awaitPicture();
    this.actions.set(name, null);
  }

  /** A pose is being stored: the next new one is what will be on the screen. */
  awaitPicture(): void {
    this.storedAt = performance.now();
  }

  private play(): void {
    this.actions.set("pose", 0);
    if (Number(this.speed.value) === 0) this.actions.set("speed", 1);
    this.actions.play();
  }

  private action(name: string, icon: "add" | "mirror" | "play", label: string, act: () => void, text = ""): HTMLElement {
    const button = make("button", { title: label });
    setIcon(button, icon, label);
    if (text) button.append(make("b", { textContent: text }));
    button.dataset["testid"] = name;
    button.onclick = act;
    return button;
  }

  private pose(number: number, i: number): HTMLElement {
    const show = make("button", { className: "pose", title: `Show pose ${i + 1}`, textContent: String(i + 1) });
    const picture = this.pictures.get(number);
    if (picture) show.style.backgroundImage = `url(${picture})`;
    show.dataset["testid"] = `pose-${i}`;
    show.onclick = () => {
      this.actions.pause();
      this.actions.set("pose", i);
    };
    const remove = make("button", { className: "remove", title: `Remove pose ${i + 1}`, textContent: "\u00d7" });
    remove.dataset["testid"] = `remove-pose-${i}`;
    remove.onclick = () => this.actions.set("remove_pose", i);
    const isLaid = Boolean(this.spans[i]);
    const layer = make("button", { className: "lay", title: isLaid ? "Take it off the clip" : "Lay this pose over the clip" });
    setIcon(layer, "layer", layer.title);
    layer.ariaPressed = String(isLaid);
    layer.dataset["testid"] = `lay-${i}`;
    layer.onclick = () => this.lay(i, isLaid);
    return make("span", {}, show, layer, remove);
  }

  /** Lay a pose over the clip where it is now, for a third of it, or take it off. Over the stored poses themselves it
   * would not be seen: then the clip from before plays. */
  private lay(pose: number, isLaid: boolean): void {
    const isOther = this.clip.value === "poses";
    if (isOther) this.actions.set("clip", this.lastClip || this.clip.options[0]!.value);
    const length = isOther ? 1 : Math.max(this.duration / 3, Math.min(1, this.duration));
    const start = isOther ? 0 : Math.min(this.sliders.time.valueAsNumber, this.duration - length);
    this.actions.layer(pose, isLaid ? null : [Math.max(start, 0), Math.max(start, 0) + length]);
    if (!isLaid) this.actions.play();
  }

  /** Take a picture of a pose that was just stored. Call it in the task that drew the canvas. */
  takePicture(canvas: HTMLCanvasElement, { x, y, size }: Portrait): void {
    const number = this.numbers.at(-1);
    if (number === undefined || this.pictures.has(number) || performance.now() - this.storedAt > ON_ITS_WAY) return;
    const times = canvas.width / canvas.clientWidth;
    const small = make("canvas", { width: 2 * PICTURE, height: 2 * PICTURE });
    small.getContext("2d")?.drawImage(canvas, (x - size / 2) * times, (y - size / 2) * times, size * times, size * times, 0, 0, small.width, small.height);
    this.pictures.set(number, small.toDataURL());
    this.buildPoses();
  }
}
