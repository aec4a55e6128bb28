// Messages between page and server: the counterpart of playground/protocol.py.

export interface Introduction {
  name: string;
  title: string;
  about: string;
  unit: string;
  help: [string, string][];
  /** A handle, and what to do with it. */
  hint: [handle: string, text: string] | null;
  /** Keys with a button on the page. */
  keys: [key: string, text: string][];
  /** Endings of the files that may be dropped on it. */
  takes: string[];
  /** Whether it has something to steer. */
  steers: boolean;
}

interface ControlBase {
  name: string;
  label: string;
  /** Heading that it stands under; "" for none. */
  group: string;
}
export type Control = ControlBase &
  (
    | { kind: "slider"; value: number; low: number; high: number; step: number; unit: string }
    | { kind: "switch"; value: boolean }
    | { kind: "choice"; value: string; options: string[]; labels: string[] }
    | { kind: "button"; value: null }
    | { kind: "download"; value: null; file: string }
  );

export type Description = Record<string, unknown>;

/** Where a handle may be, as the server enforces it: a box by its corners, a ball, or both. */
export interface Bounds {
  low?: number[];
  high?: number[];
  centre?: number[];
  radius?: number;
}

export interface SceneMessage {
  type: "scene";
  scene: string;
  layout: number;
  /** Name, shape and type of each array: floats, or whole numbers of 16 bits. */
  arrays: [string, number[], "<f4" | "<i2"][];
  /** Names of the arrays of which an answer has only some rows. */
  by_row: string[];
  controls: Control[];
  description: Description;
  paused: boolean;
}

export type ServerMessage =
  | { type: "hello"; version: string; scenes: Introduction[]; session: string }
  | { type: "progress"; done: number; total: number; what: string; seconds: number }
  | SceneMessage
  | { type: "python"; text: string }
  | { type: "state"; purpose: string; state: SceneState }
  | { type: "work"; file: string; share: number }
  | { type: "notice"; message: string }
  | { type: "end"; message: string };

/** What the user has set in a scene: for share links and saved sessions. */
export interface SceneState {
  scene: string;
  values: Record<string, Value>;
  own: unknown;
}

export type Value = number | boolean | string | null;

export type PageMessage =
  | { type: "open"; scene: string; still: boolean; state?: SceneState | null }
  | { type: "release"; number: number; handle: string }
  | { type: "restore"; number: number; state: SceneState }
  | { type: "undo"; number: number; again: boolean }
  | { type: "state"; purpose: string }
  | { type: "drag"; number: number; handle: string; position: number[] }
  | { type: "grab"; number: number; handle: string; position: number[] }
  | { type: "rotate"; number: number; handle: string; rotation: number[] }
  | { type: "pin"; number: number; handle: string }
  | { type: "steer"; number: number; turn: number; ahead: number }
  | { type: "drop"; number: number; handle: string }
  | { type: "key"; number: number; key: string; position: number[] }
  | { type: "set"; number: number; name: string; value: Value }
  | { type: "pause"; paused: boolean }
  | { type: "step" }
  | { type: "reset" }
  | { type: "visible"; visible: boolean }
  | { type: "python" }
  /** picture: milliseconds that the last picture took. */
  | { type: "seen"; tick: number; picture: number }
  | { type: "drawn" };

export interface Frame {
  layout: number;
  tick: number;
  /** The number of the last input this frame answers. */
  input: number;
  reached: number;
  count: number;
  solveMs: number;
  error: number;
  /** Ticks a second that the server manages. */
  serverFps: number;
  time: number;
  arrays: Record<string, Float32Array>;
  /** Arrays of whole numbers. */
  integers: Record<string, Int16Array>;
  shapes: Record<string, number[]>;
}

const HEADER_BYTES = 40;
/** Added to the layout of a frame that has only some rows of the large arrays. */
const PARTIAL = 2 ** 31;

/** A frame, or nothing if it belongs to a layout that is over. before: the last frame, for those that have only some rows. */
export function unpackFrame(data: ArrayBuffer, scene: SceneMessage, before: Frame | null): Frame | null {
  const layout = new DataView(data).getUint32(0, true);
  if (layout === scene.layout) return { ...header(data, scene), ...wholeArrays(data, scene) };
  if (layout !== scene.layout + PARTIAL || before?.layout !== scene.layout) return null;
  takeRows(data, scene, before);
  const { arrays, integers, shapes } = before;
  return { ...header(data, scene), arrays, integers, shapes };
}

type Arrays = Pick<Frame, "arrays" | "integers" | "shapes">;

function wholeArrays(data: ArrayBuffer, scene: SceneMessage): Arrays {
  const all: Arrays = { arrays: {}, integers: {}, shapes: {} };
  let offset = HEADER_BYTES;
  for (const [name, shape, type] of scene.arrays) {
    const size = shape.reduce((product, length) => product * length, 1);
    if (type === "<i2") all.integers[name] = new Int16Array(data, offset, size);
    else all.arrays[name] = new Float32Array(data, offset, size);
    all.shapes[name] = shape;
    offset += (type === "<i2" ? 2 : 4) * size;
  }
  return all;
}

/** Write the rows of a partial frame, as `pack_rows` in playground/protocol.py packs them, into the arrays of another. */
function takeRows(data: ArrayBuffer, scene: SceneMessage, into: Arrays): void {
  const count = new DataView(data).getUint32(HEADER_BYTES, true);
  const rows = new Uint32Array(data, HEADER_BYTES + 4, count);
  let offset = HEADER_BYTES + 4 + 4 * count;
  for (const [name, shape, type] of scene.arrays) {
    const size = shape.reduce((product, length) => product * length, 1);
    const byRow = scene.by_row.includes(name);
    const width = byRow ? size / shape[0]! : size;
    const Kind = type === "<i2" ? Int16Array : Float32Array;
    const kept = type === "<i2" ? into.integers[name]! : into.arrays[name]!;
    for (const row of byRow ? rows : [0]) {
      kept.set(new Kind(data, offset, width), row * width);
      offset += Kind.BYTES_PER_ELEMENT * width;
    }
  }
}

function header(data: ArrayBuffer, scene: SceneMessage): Omit<Frame, keyof Arrays> {
  const head = new DataView(data);
  return {
    layout: scene.layout,
    tick: head.getUint32(4, true),
    input: head.getUint32(8, true),
    reached: head.getUint32(12, true),
    solveMs: head.getFloat32(16, true),
    error: head.getFloat32(20, true),
    serverFps: head.getFloat32(24, true),
    count: head.getUint32(28, true),
    time: head.getFloat64(32, true),
  };
}

/** An array of a frame; empty if the scene has none of that name. */
export function array(frame: Frame, name: string): Float32Array {
  return frame.arrays[name] ?? EMPTY;
}
const EMPTY = new Float32Array(0);
