// Pictures and films of the scene.

import { element, make, setIcon } from "./dom";

export function download(blob: Blob, name: string): void {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Keep the canvas as it has just been drawn: call it in the same task. */
export function keepPicture(canvas: HTMLCanvasElement, name: string): void {
  canvas.toBlob((blob) => blob && download(blob, `${name}.png`), "image/png");
}

export class Film {
  private recorder: MediaRecorder | null = null;

  constructor() {
    this.show();
  }

  /** Start, or stop and keep it. */
  toggle(canvas: HTMLCanvasElement, name: string): void {
    if (this.recorder) this.recorder.stop();
    else this.start(canvas, name);
    this.show();
  }

  /** The canvas is about to go. */
  stop(): void {
    this.recorder?.stop();
  }

  private start(canvas: HTMLCanvasElement, name: string): void {
    const parts: Blob[] = [];
    const recorder = new MediaRecorder(canvas.captureStream(60), { videoBitsPerSecond: 8_000_000 });
    recorder.ondataavailable = (event) => parts.push(event.data);
    recorder.onstop = () => {
      this.recorder = null;
      this.show();
      const type = recorder.mimeType || "video/webm";
      download(new Blob(parts, { type }), `${name}.${type.includes("mp4") ? "mp4" : "webm"}`);
    };
    recorder.start(1000);
    this.recorder = recorder;
  }

  private show(): void {
    const button = element("record");
    const on = this.recorder?.state === "recording";
    setIcon(button, on ? "stop" : "film", on ? "Stop recording and keep the film" : "Record a film");
    button.setAttribute("aria-pressed", String(on));
  }
}
