// Animated GIFs: one palette for all frames, and every frame whole.

/** Bits per colour channel that are kept: colours that agree in them share an entry of the palette. */
const BITS = 5;
const SHADES = 1 << (3 * BITS);
const COLOURS = 256;
/** A pixel that is not there, and its entry of the palette. */
const CLEAR = SHADES;
const CLEAR_ENTRY = COLOURS - 1;
/** Largest number of codes in a GIF's dictionary. */
const MOST_CODES = 4096;

export interface GifFrame {
  /** One number of 15 bits for each pixel: its colour. */
  pixels: Uint16Array;
  /** How long it is shown, hundredths of a second. */
  delay: number;
}

/** Colours of a picture with `BITS` bits a channel. rgba: as `getImageData` returns it. */
export function reduced(rgba: Uint8ClampedArray): Uint16Array {
  const pixels = new Uint16Array(rgba.length / 4);
  for (let i = 0; i < pixels.length; i++) pixels[i] = rgba[4 * i + 3]! < 128 ? CLEAR : ((rgba[4 * i]! >> 3) << 10) | ((rgba[4 * i + 1]! >> 3) << 5) | (rgba[4 * i + 2]! >> 3);
  return pixels;
}

/** Write a GIF that repeats for ever. Lets the page draw between frames. */
export async function gif(width: number, height: number, frames: GifFrame[]): Promise<Blob> {
  const isClear = frames.some(({ pixels }) => pixels.includes(CLEAR));
  const { colours, nearest } = paletteOf(frames, isClear ? CLEAR_ENTRY : COLOURS);
  // A picture with clear pixels is taken away before the next one.
  const [flags, entry] = isClear ? [0b1001, CLEAR_ENTRY] : [0, 0];
  const parts: Uint8Array[] = [header(width, height, colours)];
  for (const { pixels, delay } of frames) {
    parts.push(
      Uint8Array.of(0x21, 0xf9, 4, flags, delay & 255, delay >> 8, entry, 0),
      Uint8Array.of(0x2c, 0, 0, 0, 0, width & 255, width >> 8, height & 255, height >> 8, 0, 8),
      compressed(pixels, nearest),
    );
    await new Promise((resume) => setTimeout(resume));
  }
  return new Blob([...parts, Uint8Array.of(0x3b)] as BlobPart[], { type: "image/gif" });
}

function header(width: number, height: number, colours: Uint8Array): Uint8Array {
  const repeat = [0x21, 0xff, 11, ...[..."NETSCAPE2.0"].map((letter) => letter.charCodeAt(0)), 3, 1, 0, 0, 0];
  const signature = [..."GIF89a"].map((letter) => letter.charCodeAt(0));
  return Uint8Array.of(...signature, width & 255, width >> 8, height & 255, height >> 8, 0xf7, 0, 0, ...colours, ...repeat);
}

/** The colours of all frames by median cut, and for each of the 15-bit colours the number of the one it becomes. */
function paletteOf(frames: GifFrame[], most: number): { colours: Uint8Array; nearest: Uint8Array } {
  const counts = new Uint32Array(SHADES);
  for (const { pixels } of frames) for (const pixel of pixels) if (pixel !== CLEAR) counts[pixel]!++;
  const used = [...counts.keys()].filter((shade) => counts[shade]);
  const boxes = used.length ? [used] : [[0]];
  while (boxes.length < most) {
    const i = boxes.reduce((best, box, n) => (box.length > 1 && weight(box, counts) > (boxes[best]!.length > 1 ? weight(boxes[best]!, counts) : -1) ? n : best), 0);
    if (boxes[i]!.length < 2) break;
    boxes.splice(i, 1, ...halves(boxes[i]!, counts));
  }
  const colours = new Uint8Array(3 * COLOURS);
  const nearest = new Uint8Array(SHADES + 1).fill(CLEAR_ENTRY, CLEAR);
  boxes.forEach((box, n) => {
    const total = box.reduce((sum, shade) => sum + counts[shade]!, 0) || 1;
    for (let c = 0; c < 3; c++) colours[3 * n + c] = Math.round((255 / 31) * (box.reduce((sum, shade) => sum + channel(shade, c) * counts[shade]!, 0) / total));
    for (const shade of box) nearest[shade] = n;
  });
  return { colours, nearest };
}

function channel(shade: number, c: number): number {
  return (shade >> (BITS * (2 - c))) & 31;
}

function range(box: number[], c: number): number {
  let [low, high] = [31, 0];
  for (const shade of box) {
    low = Math.min(low, channel(shade, c));
    high = Math.max(high, channel(shade, c));
  }
  return high - low;
}

/** How much there is to gain from dividing a box: pixels in it, times its extent. */
function weight(box: number[], counts: Uint32Array): number {
  const extent = Math.max(range(box, 0), range(box, 1), range(box, 2));
  return extent * Math.sqrt(box.reduce((sum, shade) => sum + counts[shade]!, 0));
}

function halves(box: number[], counts: Uint32Array): [number[], number[]] {
  const widest = [0, 1, 2].reduce((best, c) => (range(box, c) > range(box, best) ? c : best), 0);
  const sorted = [...box].sort((a, b) => channel(a, widest) - channel(b, widest));
  const half = sorted.reduce((sum, shade) => sum + counts[shade]!, 0) / 2;
  let [at, sum] = [0, 0];
  while (at < sorted.length - 2 && sum + counts[sorted[at]!]! < half) sum += counts[sorted[at++]!]!;
  return [sorted.slice(0, at + 1), sorted.slice(at + 1)];
}

/** LZW, in blocks of at most 255 bytes. */
function compressed(pixels: Uint16Array, nearest: Uint8Array): Uint8Array {
  const [clear, stop] = [COLOURS, COLOURS + 1];
  const bytes: number[] = [];
  let [bits, held, width, next] = [0, 0, 9, stop + 1];
  const table = new Int16Array(MOST_CODES * COLOURS).fill(-1);
  const filled: number[] = [];
  const put = (code: number): void => {
    bits |= code << held;
    for (held += width; held >= 8; held -= 8, bits >>>= 8) bytes.push(bits & 255);
  };
  put(clear);
  let prefix = nearest[pixels[0]!]!;
  for (let i = 1; i < pixels.length; i++) {
    const colour = nearest[pixels[i]!]!;
    const known = table[prefix * COLOURS + colour]!;
    if (known >= 0) {
      prefix = known;
      continue;
    }
    put(prefix);
    if (next < MOST_CODES) {
      filled.push(prefix * COLOURS + colour);
      table[prefix * COLOURS + colour] = next++;
      if (next > 1 << width && width < 12) width++;
    } else {
      put(clear);
      for (const at of filled) table[at] = -1;
      filled.length = 0;
      [width, next] = [9, stop + 1];
    }
    prefix = colour;
  }
  put(prefix);
  if (next >= 1 << width && width < 12) width++; // The reader has one more code by now.
  put(stop);
  if (held > 0) bytes.push(bits & 255);
  const blocks: number[][] = [];
  for (let at = 0; at < bytes.length; at += 255) blocks.push([Math.min(255, bytes.length - at), ...bytes.slice(at, at + 255)]);
  return Uint8Array.from([...blocks.flat(), 0]);
}
