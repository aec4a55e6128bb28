// Pictures and videos of the scene.

import { element, make, setIcon } from "./dom";

export function download(blob: Blob, name: string): void {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Download the canvas as a picture. Call it in the task that drew the canvas. */
export function keepPicture(canvas: HTMLCanvasElement, name: string): void {
  canvas.toBlob((blob) => blob && download(blob, `${name}.png`), "image/png");
}

export class Film {
  private recorder: MediaRecorder | null = null;

  constructor() {
    this.show();
  }

  /** Start recording, or stop and download. */
  toggle(canvas: HTMLCanvasElement, name: string): void {
    if (this.recorder) this.recorder.stop();
    else this.start(canvas, name);
    this.show();
  }

  /** Stop because the canvas will be removed. */
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
    setIcon(button, on ? "stop" : "film", on ? "Stop recording and download" : "Record a video");
    button.setAttribute("aria-pressed", String(on));
  }
}
