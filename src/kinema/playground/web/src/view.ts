// The interface of a scene's view: it draws what the server computed and reports where its handles are.

import type { Pace } from "./draw/pace";
import type { Description, Frame } from "./frames";

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

/** Milliseconds, and pictures at least, for which what moves can still be grabbed where it was: the user saw it there. */
export const GRACE = { time: 500, pictures: 4 };

/** Something to drag, with its position in CSS pixels of the page. */
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
  /** Whether its middle is at the position, not its corner. */
  centred?: boolean;
}

/** How a picture that is kept differs from what is on the screen. */
export interface Finish {
  /** Whether handles, marks and labels are in it. */
  handles: boolean;
  /** "clear": transparent, without the floor. "alone": without any ground, too. */
  background: "shown" | "clear" | "alone";
  /** Pixels of its longer side; 0: as on the screen. */
  side: number;
}

/** Names of what a finish can leave out, wherever it is in the scene. */
export const HANDLES = "kinema handles";
export const FLOOR = "kinema floor";
export const GROUNDS = "kinema ground";

/** What a view may ask of the page. */
export interface Tools {
  /** Fetch a file of the scene: `Scene.give` in Python. */
  file(name: string): Promise<ArrayBuffer>;
  /** Let the user choose a file for the scene, as if it were dropped. */
  choose(): void;
  /** Remove the file that the browser keeps for the scene. */
  forget(): void;
  /** Let a joint of the character follow another joint of the motion that it has taken over; "" for none. */
  follow(joint: string, source: string): void;
  /** Show a short notice. */
  say(text: string): void;
  /** Draw again: something other than a frame has changed. */
  redraw(): void;
}

/** A part of the body under the pointer. */
export interface Part {
  /** The handle that it belongs to. */
  handle: string;
  /** For parts without a handle of their own: the grabbed point in the space of the joint. */
  point: number[] | null;
  /** Whether it is a single bone: pulling rotates it. */
  rotates?: boolean;
  /** Position on the page of the handle, or of the point, CSS pixels. */
  x: number;
  y: number;
}

/** What can be done with a body, in views that have one. */
export interface Body {
  /** The part under a position on the page. hovering: give up if that takes too long. */
  part(x: number, y: number, hovering?: boolean): Part | null;
  /** A part is being grabbed: it gets a handle. */
  grab(part: Part): void;
  /** The part under the pointer. */
  hover(part: Part | null): void;
  /** Whether a handle is held or pinned. */
  isHeld(handle: string): boolean;
  isPinned(handle: string): boolean;
  /** Whether a handle is at the end or in the middle of a limb that can bend the other way. */
  bends(handle: string): boolean;
  /** Position in the scene that the character looks at if it looks at the pointer; null without a head. */
  gazeAt(x: number, y: number): number[] | null;
  /** Start to rotate the chosen handle at a position on the page. Returns whether there is a circle. */
  startRotating(x: number, y: number): boolean;
  /** Start to rotate a single bone by its skin. */
  startTurning(part: Part): void;
  /** Whether there is a circle under a position on the page. */
  hoverCircle(x: number, y: number): boolean;
  /** The rotation of the handle for a pointer that has moved by (x, y) CSS pixels since: a quaternion. */
  rotation(x: number, y: number): number[];
  stopRotating(): void;
}

/** Where something is on the canvas: its middle and the side of a square around it, CSS pixels. */
export interface Portrait {
  x: number;
  y: number;
  size: number;
}

export interface View {
  readonly canvas: HTMLCanvasElement;
  /** A chart or the like: under the controls, on a phone over the picture. */
  readonly overlay?: HTMLElement;
  /** Whether the overlay lies over the picture on every screen. */
  readonly overlayOnStage?: boolean;
  /** How fast it draws. */
  readonly pace: Pace;
  /** How the next pictures are to look; null: as on the screen. */
  finish: Finish | null;
  /** Whether it has everything that belongs to its first picture. */
  readonly isLoaded: boolean;
  /** Where the character is, for a picture of its pose; null where there is none. */
  portrait(): Portrait | null;
  /** Take a new description: it changes with the scene's revision. */
  describe(description: Description): void;
  /** Take a new frame. */
  show(frame: Frame): void;
  /** Prepare for the first picture while the server starts the scene. */
  warmUp(): void;
  /** Draw the newest frame, `elapsed` seconds after the last time. */
  draw(elapsed: number): void;
  resize(width: number, height: number): void;
  paint(theme: Theme): void;
  handles(): Handle[];
  /** The handle that a press beside everything drags, such as a pen; null where there is none. */
  readonly pen: string | null;
  /** Position in the scene, within the handle's bounds, for a position on the page in CSS pixels. */
  toScene(x: number, y: number, handle?: string): number[];
  /** Draw a handle at this position, whatever the server says, until null. */
  hold(handle: string, position: number[] | null): void;
  /** The handle under the pointer. */
  hover(handle: string | null): void;
  /** The handle that keys and circles belong to. */
  choose(handle: string | null): void;
  /** The body that can be grabbed; null in scenes without one. */
  readonly body: Body | null;
  /** Position in the scene of a handle moved away from the eye by a factor; null in a flat scene. */
  farther(handle: string, factor: number): number[] | null;
  chains(): ChainState[];
  labels(): Label[];
  /** What the view adds to `window.kinema.state()`. */
  state(): Record<string, unknown>;
  /** The camera; null for a flat scene. */
  readonly camera: Camera | null;
  dispose(): void;
}

/** Sides to look from, in the order of their keys and buttons. */
export const SIDES = ["front", "side", "top"] as const;
export type Side = (typeof SIDES)[number];

export interface Camera {
  /** Whether the pointer may move it: not while a handle is dragged. */
  enable(enabled: boolean): void;
  /** Whether it moves along with the character; null where nothing moves. */
  readonly following: boolean | null;
  setFollowing(following: boolean): void;
  /** Whether the user steers what it follows: then it moves behind it. */
  steered: boolean;
  /** Return to the first view. */
  home(): void;
  /** Look from the front, from the side or from above, as the character faces. */
  lookFrom(side: Side): void;
  /** Look at what is under a position on the page from nearby; return home where there is nothing. */
  frameAt(x: number, y: number): void;
  /** Where it is, to come back to; null at the first view. */
  state(): CameraState | null;
  /** Go to where it was, now and whenever the character changes, until the user moves it. */
  restore(state: CameraState): void;
}

/** A camera, relative to what it follows. In multiples of a person's size. */
export interface CameraState {
  /** From what it looks at to the eye, and from what it follows to what it looks at. */
  eye: number[];
  at: number[];
  follows: boolean;
}
