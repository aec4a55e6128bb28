// A figure that can be read: the median of its last values, so that it does not flicker with every frame.

const VALUES = 15;

export class Steady {
  private readonly last: number[] = [];

  /** Take the newest value. Returns the median of the last ones. */
  add(value: number): number {
    this.last.push(value);
    if (this.last.length > VALUES) this.last.shift();
    const sorted = [...this.last].sort((a, b) => a - b);
    return sorted[sorted.length >> 1]!;
  }
}
