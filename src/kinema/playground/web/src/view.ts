// What a scene's view is: it draws what the server computed, and says where its handles are.

import type { Description, Frame } from "./protocol";

/** Colours of the page, as numbers 0xrrggbb. */
export interface Theme {
  dark: boolean;
  background: number;
  surface: number;
  ink: number;
  faint: number;
  target: number;
  root: number;
  palette: number[];
}

/** Something to drag: its place in CSS pixels of the page. */
export interface Handle {
  id: string;
  x: number;
  y: number;
}

export interface ChainState {
  joints: number[][];
  target: number[];
  reached: boolean;
}

export interface Label {
  x: number;
  y: number;
  text: string;
}

/** What a view may ask of the page. */
export interface Tools {
  /** A file that the scene gives: `Scene.give` in Python. */
  file(name: string): Promise<ArrayBuffer>;
  /** Have the person choose a file for the scene, as if it were dropped. */
  choose(): void;
  /** Say something in passing. */
  say(text: string): void;
}

export interface View {
  readonly canvas: HTMLCanvasElement;
  /** A chart or the like: under the controls, on a phone over the picture. */
  readonly overlay?: HTMLElement;
  /** Whether it lies over the picture on every screen. */
  readonly overlayOnStage?: boolean;
  /** What changes with the scene's revision. */
  describe(description: Description): void;
  /** A new frame has come. */
  show(frame: Frame): void;
  /** Draw what there is, `elapsed` seconds after the last time. */
  draw(elapsed: number): void;
  resize(width: number, height: number): void;
  paint(theme: Theme): void;
  handles(): Handle[];
  /** The place in the scene that a handle, or nothing in particular, has at a place of the page. */
  place(x: number, y: number, handle?: string): number[];
  /** A handle is dragged: it moves at once, whatever the server says, until null. */
  hold(handle: string | null, position?: number[]): void;
  /** The handle under the pointer. */
  hover(handle: string | null): void;
  chains(): ChainState[];
  labels(): Label[];
  /** More of what `window.kinema.state()` tells. */
  state(): Record<string, unknown>;
  /** Whether the camera may be turned now (nothing is dragged). */
  camera(free: boolean): void;
  dispose(): void;
}
