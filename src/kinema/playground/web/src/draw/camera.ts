// The camera of a scene in space: orbits, follows a character, and always finds its way home.

import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import type { Camera, CameraState, Side } from "../view";

/** Aspect ratio that scenes are composed for, and how much farther away a narrow screen may move the camera. */
const WIDE = 1.4;
const LARGEST_STEP_BACK = 3;
/** Nearest and farthest distance, as multiples of the first one: a face fills the picture, and fog hides nothing. */
const NEAREST = 0.07;
const FARTHEST = 3;
/** How far a user may move what the camera looks at, as a multiple of the first distance. */
const LARGEST_PAN = 2;
/** Distance from which `frameAt` looks, as a multiple of the first one. */
const FRAMED = 0.4;
/** Seconds in which half of a change of the character's speed reaches the camera. At a steady speed it does not lag behind,
 * however slow the pictures are: a face that is seen from nearby would leave the picture. */
const FOLLOW_HALF_LIFE = 0.13;
/** Distance that counts as a jump of what is followed, metres for a person: the camera glides there. */
const JUMP = 1;
/** Half of the angle behind a steered character in which the camera stays, radians, and the seconds in which it covers
 * half of the way there. */
const BEHIND = 0.7;
const BEHIND_HALF_LIFE = 0.5;
/** States of OrbitControls in which the user moves the camera sideways. */
const PANNING = new Set([2, 4]);

/** Least height of the eye above the ground, metres for a person. */
const CLEARANCE = 0.12;
const UP = new THREE.Vector3(0, 1, 0);
/** From what is looked at to the eye, for something that faces +Z. */
const DIRECTIONS: Record<Side, THREE.Vector3> = {
  front: new THREE.Vector3(0, 0.12, 1),
  side: new THREE.Vector3(1, 0.12, 0),
  top: new THREE.Vector3(0, 1, 0.02),
};

export interface Look {
  from: [number, number, number];
  at: [number, number, number];
  /** Half the width that shadows cover, metres. */
  shade: number;
  /** Aspect ratio that it is composed for; default: `WIDE`. */
  wide?: number;
  /** Whether the camera follows something that moves. */
  follows?: boolean;
}

export class OrbitCamera implements Camera {
  readonly lens = new THREE.PerspectiveCamera(38, 1, 0.03, 200);
  readonly controls: OrbitControls;
  private readonly ray = new THREE.Raycaster();
  /** Whether the user has moved it. */
  private moved = false;
  private follows: boolean;
  /** What it follows, and where that is in this frame. */
  private readonly followed = new THREE.Vector3();
  private readonly goal = new THREE.Vector3();
  /** Of the camera with what it follows, metres per second. */
  private readonly velocity = new THREE.Vector3();
  private started = false;
  /** Where the eye was last known to be above the ground. */
  private readonly checked = new THREE.Vector3();
  /** Direction that the character faces, radians from +Z towards +X. */
  facing = 0;
  private times = 1;
  private isSteered = false;
  /** Whether the user has moved the camera while steering: then it stays on that side. */
  private keepsSide = false;
  /** Where it goes back to. */
  private wanted: CameraState | null = null;

  constructor(
    private readonly look: Look,
    private readonly scene: THREE.Scene,
    canvas: HTMLCanvasElement,
  ) {
    this.follows = look.follows ?? false;
    this.lens.position.set(...look.from);
    this.controls = new OrbitControls(this.lens, canvas);
    this.controls.target.set(...look.at);
    this.followed.set(...look.at);
    this.controls.cursor.set(...look.at);
    this.controls.enableDamping = !matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.controls.zoomToCursor = true;
    this.controls.maxPolarAngle = Math.PI * 0.495;
    this.controls.addEventListener("start", () => this.touched());
    this.setLimits();
  }

  private touched(): void {
    this.moved = this.keepsSide = true;
    this.wanted = null;
    if (PANNING.has((this.controls as unknown as { state: number }).state)) this.follows = false;
  }

  private setLimits(): void {
    const distance = this.firstDistance();
    this.controls.minDistance = NEAREST * distance;
    this.controls.maxDistance = FARTHEST * distance;
    this.controls.maxTargetRadius = LARGEST_PAN * distance;
  }

  private firstDistance(): number {
    return this.times * new THREE.Vector3(...this.look.from).distanceTo(new THREE.Vector3(...this.look.at));
  }

  enable(enabled: boolean): void {
    this.controls.enabled = enabled;
  }

  get following(): boolean | null {
    return this.look.follows ? this.follows : null;
  }

  setFollowing(following: boolean): void {
    this.follows = following;
    if (following) this.moveBy(this.goal.clone().sub(this.followed));
  }

  set steered(steered: boolean) {
    if (steered !== this.isSteered) this.keepsSide = false;
    this.isSteered = steered;
  }

  state(): CameraState | null {
    if (!this.moved && this.follows === (this.look.follows ?? false)) return null;
    const { target } = this.controls;
    const inTimes = (offset: THREE.Vector3) => offset.divideScalar(this.times).toArray();
    return { eye: inTimes(this.lens.position.clone().sub(target)), at: inTimes(target.clone().sub(this.followed)), follows: this.follows };
  }

  restore(state: CameraState): void {
    this.wanted = state;
    if (this.started || !this.look.follows) this.goBack();
  }

  /** Go to the wanted place. */
  private goBack(): void {
    if (!this.wanted) return;
    this.moved = true;
    this.follows = this.wanted.follows;
    this.controls.target.fromArray(this.wanted.at).multiplyScalar(this.times).add(this.followed);
    this.controls.cursor.copy(this.controls.target);
    this.lens.position.fromArray(this.wanted.eye).multiplyScalar(this.times).add(this.controls.target);
  }

  home(): void {
    this.wanted = null;
    this.goHome();
  }

  private goHome(): void {
    this.follows = this.look.follows ?? false;
    this.moved = false;
    this.velocity.setScalar(0);
    this.controls.target.set(...this.look.at);
    if (this.look.follows) {
      this.controls.target.copy(this.goal);
      this.followed.copy(this.goal);
    }
    this.controls.cursor.copy(this.controls.target);
    this.stepBack();
  }

  lookFrom(side: Side): void {
    this.touched();
    const away = DIRECTIONS[side].clone().applyAxisAngle(UP, this.facing);
    this.lens.position.copy(this.controls.target).addScaledVector(away.normalize(), this.composedDistance());
  }

  frameAt(x: number, y: number): void {
    const hit = this.hit(x, y);
    if (!hit) return this.home();
    this.touched();
    const away = this.lens.position.clone().sub(this.controls.target);
    away.setLength(Math.min(FRAMED * this.firstDistance(), away.length()));
    this.controls.target.copy(hit);
    this.lens.position.copy(hit).add(away);
  }

  /** The nearest surface under a position on the page. */
  private hit(x: number, y: number): THREE.Vector3 | null {
    this.aim(this.ray, x, y);
    return this.ray.intersectObjects(this.scene.children, true).find(({ object }) => isSurface(object))?.point ?? null;
  }

  /** Point a ray from the eye through a position on the page. */
  aim(ray: THREE.Raycaster, x: number, y: number): void {
    const box = this.controls.domElement!.getBoundingClientRect();
    ray.setFromCamera(new THREE.Vector2(((x - box.left) / box.width) * 2 - 1, 1 - ((y - box.top) / box.height) * 2), this.lens);
  }

  resize(width: number, height: number): void {
    this.lens.aspect = width / height;
    this.lens.updateProjectionMatrix();
    if (!this.moved) this.stepBack();
  }

  /** Move to the first distance, farther away on a narrow screen so that the scene stays in the picture. */
  private stepBack(): void {
    const away = new THREE.Vector3(...this.look.from).sub(new THREE.Vector3(...this.look.at));
    this.lens.position.copy(this.controls.target).add(away.setLength(this.composedDistance()));
  }

  private composedDistance(): number {
    return this.firstDistance() * Math.min(Math.max((this.look.wide ?? WIDE) / this.lens.aspect, 1), LARGEST_STEP_BACK);
  }

  /** Keep the eye above a ground. height: of the ground at x and z, null where there is none. */
  keepAbove(height: (x: number, z: number) => number | null): void {
    const { position } = this.lens;
    if (position.equals(this.checked)) return;
    const ground = height(position.x, position.z);
    if (ground !== null && position.y < ground + CLEARANCE * this.times) {
      position.y = ground + CLEARANCE * this.times;
      this.lens.lookAt(this.controls.target);
    }
    this.checked.copy(position);
  }

  /** The ground is another one: check the eye again. */
  forgetGround(): void {
    this.checked.setScalar(NaN);
  }

  /** Adapt distances to something so many times as large as what the look was made for. */
  scaleTo(times: number): void {
    const at = this.controls.target;
    this.lens.position.sub(at).multiplyScalar(times / this.times).add(at);
    this.times = times;
    this.setLimits();
    if (!this.look.follows) this.goBack();
  }

  /** Move along with something that is now at `position`, smoothly; `wait` keeps the camera where it is. */
  follow(position: THREE.Vector3, elapsed: number, wait: boolean): void {
    this.goal.copy(position);
    if (!this.started) {
      this.goHome();
      this.goBack();
    }
    this.started = true;
    if (!this.follows || wait) this.velocity.setScalar(0);
    if (!this.follows || wait || elapsed <= 0) return;
    this.moveAlong(position, elapsed);
    if (this.isSteered && !this.keepsSide) this.moveBehind(elapsed);
  }

  /** Move towards a position that moves itself: an alpha-beta filter, critically damped. */
  private moveAlong(position: THREE.Vector3, elapsed: number): void {
    const kept = 0.5 ** (elapsed / FOLLOW_HALF_LIFE);
    const off = position.clone().sub(this.followed).addScaledVector(this.velocity, -elapsed);
    if (off.length() > JUMP * this.times) {
      this.velocity.setScalar(0);
      this.moveBy(position.clone().sub(this.followed).multiplyScalar(1 - kept));
      return;
    }
    this.moveBy(this.velocity.clone().multiplyScalar(elapsed).addScaledVector(off, 1 - kept * kept));
    this.velocity.addScaledVector(off, (1 - kept) ** 2 / elapsed);
  }

  /** Move around what is followed until the eye is behind it: left is left then, and stairs rise away from the eye. */
  private moveBehind(elapsed: number): void {
    const away = this.lens.position.clone().sub(this.controls.target);
    const off = Math.atan2(away.x, away.z) - this.facing - Math.PI;
    const turned = Math.atan2(Math.sin(off), Math.cos(off));
    const beyond = Math.sign(turned) * Math.max(Math.abs(turned) - BEHIND, 0);
    away.applyAxisAngle(UP, -beyond * (1 - 0.5 ** (elapsed / BEHIND_HALF_LIFE)));
    this.lens.position.copy(this.controls.target).add(away);
  }

  /** Start again with something new to follow. */
  restart(): void {
    this.started = false;
  }

  private moveBy(offset: THREE.Vector3): void {
    for (const part of [this.followed, this.controls.target, this.controls.cursor, this.lens.position]) part.add(offset);
  }

  dispose(): void {
    this.controls.dispose();
  }
}

function isSurface(object: THREE.Object3D): boolean {
  return object instanceof THREE.Mesh && object.visible && !(object.material as THREE.Material).transparent;
}
