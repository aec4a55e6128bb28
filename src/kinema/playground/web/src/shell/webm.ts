// Make a recorded WebM seekable: browsers write neither its duration nor an index of its key frames.
// A WebM file is a tree of elements (EBML): an id, a size, and content or further elements.

const SEGMENT = 0x18538067;
const INFO = 0x1549a966;
const TRACKS = 0x1654ae6b;
const CLUSTER = 0x1f43b675;
const CUES = 0x1c53bb6b;
const TIMECODE = 0xe7;
const SIMPLE_BLOCK = 0xa3;
const BLOCK_GROUP = 0xa0;
const BLOCK = 0xa1;
const REFERENCE = 0xfb;
const DURATION = 0x4489;
/** Ids of elements directly in a segment: where one of them begins, a cluster of unknown size ends. */
const TOP = new Set([INFO, TRACKS, CLUSTER, CUES, 0x114d9b74, 0x1254c367]);

interface Element {
  id: number;
  /** Where it begins, and where its content begins and ends. */
  start: number;
  from: number;
  to: number;
}

interface Cluster {
  time: number;
  content: Uint8Array;
  /** Whether its first frame can be decoded alone. */
  key: boolean;
  last: number;
}

/** A copy of a WebM with its duration and an index. Returns the same bytes if it is not one. */
export function seekable(data: Uint8Array): Uint8Array {
  const segment = elements(data, 0, data.length).find(({ id }) => id === SEGMENT);
  if (!segment) return data;
  const parts = elements(data, segment.from, segment.to);
  const info = parts.find(({ id }) => id === INFO);
  const tracks = parts.find(({ id }) => id === TRACKS);
  const clusters = parts.filter(({ id }) => id === CLUSTER).map((part) => clusterOf(data, part));
  if (!info || !tracks || !clusters.length) return data;
  const duration = durationOf(clusters);
  const kept = elements(data, info.from, info.to).filter(({ id }) => id !== DURATION);
  const newInfo = element(INFO, ...kept.map(({ start, to }) => data.subarray(start, to)), element(DURATION, float(duration)));
  const newTracks = data.subarray(tracks.start, tracks.to);
  const newClusters = clusters.map(({ content }) => element(CLUSTER, content));
  // Numbers in the index have a fixed width, so its size does not depend on them.
  const indexSize = cues(clusters, newClusters, 0).length;
  const index = cues(clusters, newClusters, newInfo.length + newTracks.length + indexSize);
  return joined([data.subarray(0, segment.start), element(SEGMENT, newInfo, newTracks, index, ...newClusters)]);
}

/** Milliseconds: up to the last frame, and as long again as frames are apart on average. */
function durationOf(clusters: Cluster[]): number {
  const last = Math.max(...clusters.map((cluster) => cluster.last));
  const frames = clusters.reduce((sum, { content }) => sum + elements(content, 0, content.length).filter(isBlock).length, 0);
  return last + last / Math.max(frames - 1, 1);
}

function cues(clusters: Cluster[], written: Uint8Array[], offset: number): Uint8Array {
  const points: Uint8Array[] = [];
  clusters.forEach(({ time, key }, i) => {
    if (key) points.push(element(0xbb, element(0xb3, whole(time)), element(0xb7, element(0xf7, whole(1)), element(0xf1, whole(offset)))));
    offset += written[i]!.length;
  });
  return element(CUES, ...points);
}

function clusterOf(data: Uint8Array, part: Element): Cluster {
  const inside = elements(data, part.from, part.to);
  const at = inside.find(({ id }) => id === TIMECODE);
  const time = at ? data.subarray(at.from, at.to).reduce((sum, byte) => sum * 256 + byte, 0) : 0;
  const blocks = inside.filter(isBlock).map((block) => blockOf(data, block));
  return {
    time,
    content: data.subarray(part.from, part.to),
    key: blocks[0]?.key ?? false,
    last: time + Math.max(0, ...blocks.map((block) => block.time)),
  };
}

function isBlock({ id }: Element): boolean {
  return id === SIMPLE_BLOCK || id === BLOCK_GROUP;
}

/** Time of a frame within its cluster, and whether it is a key frame. */
function blockOf(data: Uint8Array, block: Element): { time: number; key: boolean } {
  let { from } = block;
  let key: boolean | null = null;
  if (block.id === BLOCK_GROUP) {
    const inside = elements(data, block.from, block.to);
    from = inside.find(({ id }) => id === BLOCK)?.from ?? block.from;
    key = !inside.some(({ id }) => id === REFERENCE);
  }
  const [, width] = size(data, from);
  const view = new DataView(data.buffer, data.byteOffset + from + width);
  return { time: view.getInt16(0), key: key ?? (view.getUint8(2) & 0x80) !== 0 };
}

// Reading.

function elements(data: Uint8Array, from: number, to: number): Element[] {
  const found: Element[] = [];
  let at = from;
  while (at < to) {
    const start = at;
    const width = Math.clz32(data[at]!) - 23;
    const id = data.subarray(at, at + width).reduce((sum, byte) => sum * 256 + byte, 0);
    const [length, bytes] = size(data, at + width);
    const content = at + width + bytes;
    at = length === null ? end(data, id, content, to) : content + length;
    if (width > 4 || at > to) break; // Cut off, or not EBML.
    found.push({ id, start, from: content, to: at });
  }
  return found;
}

/** A size and how many bytes it takes; null for unknown. */
function size(data: Uint8Array, at: number): [number | null, number] {
  const width = Math.clz32(data[at]!) - 23;
  let value = data[at]! & (0xff >> width);
  let unknown = value === 0xff >> width;
  for (let i = 1; i < width; i++) {
    value = value * 256 + data[at + i]!;
    unknown &&= data[at + i] === 0xff;
  }
  return [unknown ? null : value, width];
}

/** Where an element of unknown size ends: a segment with the file, a cluster before the next element of the segment. */
function end(data: Uint8Array, id: number, from: number, to: number): number {
  let at = from;
  while (id === CLUSTER && at < to) {
    const width = Math.clz32(data[at]!) - 23;
    if (TOP.has(data.subarray(at, at + width).reduce((sum, byte) => sum * 256 + byte, 0))) return at;
    const [length, bytes] = size(data, at + width);
    at += width + bytes + (length ?? 0);
  }
  return to;
}

// Writing.

function element(id: number, ...content: Uint8Array[]): Uint8Array {
  const length = content.reduce((sum, part) => sum + part.length, 0);
  const name = whole(id).subarray(8 - Math.ceil((32 - Math.clz32(id)) / 8));
  const sized = whole(length);
  sized[0] = 0x01; // A size of eight bytes.
  return joined([name, sized, ...content]);
}

function whole(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
  return bytes;
}

function float(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value);
  return bytes;
}

function joined(parts: Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
