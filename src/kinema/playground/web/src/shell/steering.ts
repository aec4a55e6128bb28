// Steering what walks: W, A, S and D by their place on the keyboard, the left stick or cross of a gamepad, or the pad on
// a touch screen.

import { Pad } from "./pad";
import { stick } from "./stick";

const KEYS: Record<string, [turn: number, ahead: number]> = { KeyW: [0, 1], KeyS: [0, -1], KeyA: [1, 0], KeyD: [-1, 0] };
/** Buttons of the cross of a standard gamepad. */
const CROSS: Record<number, [turn: number, ahead: number]> = { 12: [0, 1], 13: [0, -1], 14: [1, 0], 15: [-1, 0] };

export class Steering {
  /** Whether the scene has something to steer. */
  enabled = false;
  private readonly down = new Set<string>();
  private readonly pad = new Pad();
  private last = "0,0";

  /** steer: turn to the left and pace ahead, both -1 to 1; called when they change. */
  constructor(private readonly steer: (turn: number, ahead: number) => void) {
    addEventListener("keyup", ({ code }) => this.down.delete(code), { capture: true });
    addEventListener("blur", () => this.down.clear());
  }

  /** Start anew with another scene. */
  start(enabled: boolean): void {
    this.enabled = enabled;
    this.pad.show(enabled);
    this.down.clear();
    this.last = "0,0";
  }

  /** Whether the user steers now. */
  get isActive(): boolean {
    return this.last !== "0,0";
  }

  /** Handle a pressed key. Returns whether it steers. */
  key({ code }: KeyboardEvent): boolean {
    if (!this.enabled || !(code in KEYS)) return false;
    this.down.add(code);
    return true;
  }

  /** Call this for every drawn frame. */
  drawn(): void {
    if (!this.enabled) return;
    const ways = [...[...this.down].map((code) => KEYS[code]!), ...gamepads(), this.pad.way];
    const sum = (i: 0 | 1) => Math.min(Math.max(ways.reduce((total, way) => total + way[i], 0), -1), 1);
    const [turn, ahead] = [sum(0), sum(1)];
    if (`${turn},${ahead}` === this.last) return;
    this.last = `${turn},${ahead}`;
    this.steer(turn, ahead);
  }
}

/** What the gamepads ask for. */
function gamepads(): [turn: number, ahead: number][] {
  return [...(navigator.getGamepads?.() ?? [])].flatMap((pad) => {
    if (!pad?.connected) return [];
    const [x = 0, y = 0] = pad.axes;
    const crossed = Object.entries(CROSS).flatMap(([i, way]) => (pad.buttons[Number(i)]?.pressed ? [way] : []));
    return [[-stick(x), -stick(y)] as [number, number], ...crossed];
  });
}
