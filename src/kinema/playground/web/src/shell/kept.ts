// The state of each scene, kept in this tab: over a change of scene, a reload, and a restart of the server.

import type { SceneState } from "../protocol";

const PREFIX = "kinema.scene.";
/** Milliseconds between two writes: the browser writes while the page waits. */
const WRITE_INTERVAL = 1000;

export class Kept {
  private readonly states = new Map<string, SceneState>();
  /** Scenes whose states are not written yet. */
  private readonly unwritten = new Set<string>();
  private timer = 0;

  /** leaving: the page goes away; what it puts now is still written. */
  constructor(leaving: () => void) {
    addEventListener("pagehide", () => {
      leaving();
      this.write();
    });
  }

  /** The state of a scene; null if there is none. */
  get(scene: string): SceneState | null {
    if (!this.states.has(scene)) {
      try {
        this.states.set(scene, JSON.parse(sessionStorage.getItem(PREFIX + scene) ?? "null") as SceneState);
      } catch {
        return null; // Whoever damaged it gets the scene as it is at first.
      }
    }
    return this.states.get(scene) ?? null;
  }

  /** Forget a scene's state: it starts anew. */
  forget(scene: string): void {
    this.states.delete(scene);
    this.unwritten.delete(scene);
    sessionStorage.removeItem(PREFIX + scene);
  }

  /** Keep a state, or some fields of one. */
  put(part: Partial<SceneState> & { scene: string }): void {
    const before = this.get(part.scene);
    if (!before && !part.values) return; // What moves says nothing without the rest.
    this.states.set(part.scene, { ...before, ...part } as SceneState);
    this.unwritten.add(part.scene);
    this.timer ||= window.setTimeout(() => this.write(), WRITE_INTERVAL);
  }

  private write(): void {
    clearTimeout(this.timer);
    this.timer = 0;
    for (const scene of this.unwritten) {
      try {
        sessionStorage.setItem(PREFIX + scene, JSON.stringify(this.states.get(scene)));
      } catch {
        sessionStorage.removeItem(PREFIX + scene); // It is too large: an old state would be worse than none.
      }
    }
    this.unwritten.clear();
  }
}
