// Pictures, videos and GIFs of the scene, with its labels.

import type { Frame } from "../frames";
import type { Label, Theme } from "../view";
import { element, make, setIcon } from "./dom";
import { gif, reduced, type GifFrame } from "./gif";
import { seekable } from "./webm";

/** Frames per second of a GIF, most frames of it, and its largest width in pixels. */
const GIF_FPS = 20;
const GIF_FRAMES = 300;
const GIF_WIDTH = 640;
/** Milliseconds between key frames of a video: a player can jump to each of them. */
const KEY_FRAMES = 1000;
/** Bytes that a video with a picture has at least; most milliseconds to wait for them, and between two looks. */
const LEAST_FILM = 1000;
const LONGEST_ENCODING = 15_000;
const ENCODING_CHECK = 250;

/** What is on the screen. Use it in the task that drew the canvas. */
export interface Shot {
  canvas: HTMLCanvasElement;
  labels: Label[];
  theme: Theme;
}

export function download(blob: Blob, name: string): void {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Download what is on the screen as a picture. */
export function keepPicture(shot: Shot, name: string): void {
  const whole = make("canvas", { width: shot.canvas.width, height: shot.canvas.height });
  compose(shot, whole);
  whole.toBlob((blob) => blob && download(blob, `${name}.png`), "image/png");
}

/** Draw a shot onto a canvas of any size: the scene, and the labels over it. */
function compose({ canvas, labels, theme }: Shot, onto: HTMLCanvasElement): void {
  const pen = onto.getContext("2d", { willReadFrequently: true })!;
  const box = canvas.getBoundingClientRect();
  const scale = onto.width / Math.max(box.width, 1);
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, onto.width, onto.height);
  pen.drawImage(canvas, 0, 0, onto.width, onto.height);
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.font = `13px ${getComputedStyle(document.body).fontFamily}`;
  pen.textBaseline = "middle";
  for (const label of labels) {
    const lines = label.text.split("\n");
    const [width, height] = [Math.max(...lines.map((line) => pen.measureText(line).width)) + 14, 17 * lines.length + 2];
    const x = label.x - box.left - (label.centred ? width / 2 : 0);
    const y = label.y - box.top - (label.centred ? height / 2 : 0);
    pen.fillStyle = css(theme.surface);
    pen.globalAlpha = 0.86;
    pen.beginPath();
    pen.roundRect(x, y, width, height, 7);
    pen.fill();
    pen.globalAlpha = 1;
    pen.fillStyle = css(theme.ink);
    pen.textAlign = label.centred ? "center" : "left";
    lines.forEach((line, i) => pen.fillText(line, x + (label.centred ? width / 2 : 7), y + 1 + 17 * (i + 0.5)));
  }
}

function css(colour: number): string {
  return `#${colour.toString(16).padStart(6, "0")}`;
}

/** A recording that is going on. */
interface Recording {
  drawn(shot: Shot): void;
  /** End it, and download what there is. */
  finish(): void;
}

type Kind = "video" | "gif";

/** seconds: of the scene, after which it ends by itself. number: of the input whose answer is its first picture. isClear:
 * whether its background is transparent. */
interface Plan {
  seconds: number;
  number: number;
  isClear: boolean;
}

export class Film {
  private recording: Recording | null = null;
  private kind: Kind = "video";
  private plan: Plan = { seconds: Infinity, number: 0, isClear: false };
  /** Time of the scene in the first picture; null before that. */
  private begun: number | null = null;
  private ended: () => void = () => undefined;

  constructor() {
    this.show();
  }

  /** ended: called at its end. */
  start(kind: Kind, name: string, plan: Plan, ended: () => void): void {
    Object.assign(this, { kind, plan, ended, begun: null });
    this.recording = kind === "video" ? new Video(name, plan.isClear) : new Gif(name, () => this.stop());
    this.show();
  }

  get isRecording(): boolean {
    return this.recording !== null;
  }

  /** Take what was drawn. */
  drawn(shot: Shot, { input, time }: Frame): void {
    if (!this.recording || input < this.plan.number) return;
    this.begun ??= time;
    if (time - this.begun >= this.plan.seconds) return this.stop();
    this.recording.drawn(shot);
  }

  /** Stop and download, also because the canvas will be removed. */
  stop(): void {
    if (!this.recording) return;
    this.recording.finish();
    this.recording = null;
    this.show();
    this.ended();
  }

  private show(): void {
    for (const [id, kind, what] of [["record", "video", "a video"], ["record-gif", "gif", "a GIF"]] as const) {
      const on = this.recording !== null && this.kind === kind;
      setIcon(element(id), on ? "stop" : kind === "gif" ? "gif" : "film", on ? "Stop recording and download" : `Record ${what}`);
      element(id).setAttribute("aria-pressed", String(on));
    }
  }
}

class Video implements Recording {
  private readonly whole = make("canvas");
  private readonly parts: Blob[] = [];
  private recorder: MediaRecorder | null = null;

  constructor(private readonly name: string, isClear: boolean) {
    // What the canvas can be decides whether the film has an alpha channel.
    this.whole.getContext("2d", { alpha: isClear, willReadFrequently: true });
  }

  drawn(shot: Shot): void {
    if (!this.recorder) Object.assign(this.whole, { width: shot.canvas.width & ~1, height: shot.canvas.height & ~1 });
    compose(shot, this.whole);
    this.recorder ??= this.start();
  }

  private start(): MediaRecorder {
    const options = { videoBitsPerSecond: 8_000_000, videoKeyFrameIntervalDuration: KEY_FRAMES };
    const recorder = new MediaRecorder(this.whole.captureStream(60), options);
    recorder.ondataavailable = (event) => this.parts.push(event.data);
    recorder.onstop = () => void this.keep(recorder.mimeType || "video/webm");
    recorder.start(1000);
    return recorder;
  }

  /** Stop once there is something to keep: large pictures take the encoder a while. */
  finish(): void {
    const latest = performance.now() + LONGEST_ENCODING;
    const stop = () => {
      if (!this.recorder) return;
      if (new Blob(this.parts).size > LEAST_FILM || performance.now() > latest) return this.recorder.stop();
      this.whole.getContext("2d")!.drawImage(this.whole, 0, 0); // The encoder takes what is painted anew.
      this.recorder.requestData();
      setTimeout(stop, ENCODING_CHECK);
    };
    stop();
  }

  private async keep(type: string): Promise<void> {
    const data = new Uint8Array(await new Blob(this.parts).arrayBuffer());
    const ending = type.includes("mp4") ? "mp4" : "webm";
    download(new Blob([ending === "webm" ? seekable(data) : data] as BlobPart[], { type }), `${this.name}.${ending}`);
  }
}

class Gif implements Recording {
  private readonly small = make("canvas");
  private readonly frames: GifFrame[] = [];
  private due = 0;
  private last = 0;

  constructor(
    private readonly name: string,
    private readonly full: () => void,
  ) {}

  drawn(shot: Shot): void {
    const now = performance.now();
    if (now < this.due) return;
    this.due = Math.max(this.due + 1000 / GIF_FPS, now);
    if (!this.frames.length) {
      const scale = Math.min(1, GIF_WIDTH / shot.canvas.width);
      Object.assign(this.small, { width: Math.round(shot.canvas.width * scale), height: Math.round(shot.canvas.height * scale) });
    } else {
      this.frames.at(-1)!.delay = Math.max(2, Math.round((now - this.last) / 10));
    }
    compose(shot, this.small);
    const { width, height } = this.small;
    const { data } = this.small.getContext("2d")!.getImageData(0, 0, width, height);
    this.frames.push({ pixels: reduced(data), delay: Math.round(100 / GIF_FPS) });
    this.last = now;
    if (this.frames.length >= GIF_FRAMES) this.full();
  }

  finish(): void {
    if (this.frames.length) void gif(this.small.width, this.small.height, this.frames).then((blob) => download(blob, `${this.name}.gif`));
  }
}
