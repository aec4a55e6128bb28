// Frames, as `pack_frame` and `pack_rows` in playground/protocol.py pack them.

import { HEADER, HEADER_BYTES, PARTIAL, type ServerMessage } from "./protocol";

export type SceneMessage = Extract<ServerMessage, { type: "scene" }>;
export type Description = SceneMessage["description"];

type Header = { -readonly [name in keyof typeof HEADER]: number };

export interface Frame extends Header {
  arrays: Record<string, Float32Array>;
  /** Arrays of whole numbers. */
  integers: Record<string, Int16Array>;
  shapes: Record<string, number[]>;
}

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

/** Write the rows of a partial frame into the arrays of another. */
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

function header(data: ArrayBuffer, scene: SceneMessage): Header {
  const head = new DataView(data);
  const read = Object.entries(HEADER).map(([name, [at, type]]) => [name, head[`get${type}`](at, true)]);
  return { ...(Object.fromEntries(read) as Header), layout: scene.layout };
}

/** An array of a frame; empty if the scene has none of that name. */
export function array(frame: Frame, name: string): Float32Array {
  return frame.arrays[name] ?? EMPTY;
}
const EMPTY = new Float32Array(0);
