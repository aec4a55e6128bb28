// The deflection of a stick, of a gamepad or on the screen.

/** Part of a stick's way that counts as rest. */
const DEAD = 0.18;
/** Steps of a stick: finer ones would send more messages than anyone feels. */
const STEP = 0.05;

/** A stick's deflection, -1 to 1, without its rest, in steps. */
export function stick(value: number): number {
  const beyond = Math.max(Math.abs(value) - DEAD, 0) / (1 - DEAD);
  return Math.sign(value) * Math.min(Math.round(beyond / STEP) * STEP, 1) || 0;
}
