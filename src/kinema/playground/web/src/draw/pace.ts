// The pace of drawing: a picture is begun once the one before it is finished, and slow machines get simpler pictures.
//
// A browser that is given pictures faster than it can draw them blocks the page in the end, and a blocked page hears
// neither the pointer nor the server. So a fence follows each picture, and it tells how long the picture took.

/** Milliseconds a picture may take before the next ones are simpler, and below which finer ones are tried again. The page
 * looks once per frame of the screen: a picture that is ready for the next one takes 17 ms at 60 frames a second. */
const SLOW_MS = 25;
const FAST_MS = 20;
/** Slow pictures in a row before the quality is reduced, and seconds of fast ones before it is raised again. */
const SLOW_PICTURES = 4;
const FAST_SECONDS = 4;
/** While the user drags, slow pictures are this much of their own duration apart, but at most so many milliseconds: where
 * the processor draws, it answers the drags in between. */
const REST_SHARE = 0.3;
const LONGEST_REST = 60;
/** Milliseconds after which a picture counts as finished in any case: a lost context never finishes one. */
const LONGEST_MS = 4000;

export interface Quality {
  /** Pixels of the picture for each CSS pixel, at most. */
  ratio: number;
  /** Width of the shadow map, pixels; 0 for no shadows. */
  shadows: number;
}

/** From the finest to the simplest. */
const QUALITIES: Quality[] = [
  { ratio: 2, shadows: 1024 },
  { ratio: 1, shadows: 1024 },
  { ratio: 0.75, shadows: 512 },
  { ratio: 0.6, shadows: 512 },
  { ratio: 0.5, shadows: 0 },
];
const FINEST = QUALITIES[0]!;
export const SIMPLEST = QUALITIES.length - 1;

export class Pace {
  /** Whether the next picture is as fine as can be, however long it takes: nothing moves, or it is to be kept. */
  fine = false;
  /** Pictures that are finished. */
  finished = 0;
  /** Milliseconds that the last picture took. */
  ms = 0;
  private level: number;
  private fence: WebGLSync | null = null;
  private begun = 0;
  private ended = 0;
  private wasFine = false;
  private slow = 0;
  private fastSince: number | null = null;
  private patience = FAST_SECONDS;

  /** first: index of the quality to begin with. */
  constructor(
    private readonly gl: WebGL2RenderingContext,
    first = 0,
  ) {
    this.level = first;
  }

  /** Whether the last picture is still being drawn. */
  get busy(): boolean {
    if (!this.fence) return false;
    const now = performance.now();
    const done = this.gl.getSyncParameter(this.fence, this.gl.SYNC_STATUS) !== this.gl.UNSIGNALED;
    if (!done && now - this.begun < LONGEST_MS) return true;
    this.gl.deleteSync(this.fence);
    this.fence = null;
    this.ended = now;
    this.ms = now - this.begun;
    this.finished += 1;
    this.adapt(now);
    return false;
  }

  /** Whether the next picture should wait while the user drags. */
  get rests(): boolean {
    return this.ms > SLOW_MS && performance.now() - this.ended < Math.min(REST_SHARE * this.ms, LONGEST_REST);
  }

  /** How the next picture is to be drawn. */
  get quality(): Quality {
    return this.fine ? FINEST : QUALITIES[this.level]!;
  }

  begin(): void {
    this.begun = performance.now();
    this.wasFine = this.fine;
  }

  end(): void {
    this.fence = this.gl.fenceSync(this.gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    this.gl.flush();
  }

  private adapt(now: number): void {
    if (this.wasFine) return;
    this.slow = this.ms > SLOW_MS ? this.slow + 1 : 0;
    if (this.ms > FAST_MS) this.fastSince = null;
    else this.fastSince ??= now;
    if (this.slow >= SLOW_PICTURES && this.level < QUALITIES.length - 1) {
      this.level += 1;
      this.slow = 0;
    } else if (this.fastSince !== null && now - this.fastSince > 1000 * this.patience && this.level > 0) {
      this.level -= 1;
      this.fastSince = null;
      this.patience *= 2; // A quality that was too slow once is tried less and less often.
    }
  }
}
