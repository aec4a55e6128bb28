// Handles in space: rings that face the camera and are never hidden.

import * as THREE from "three";
import { HANDLES } from "../view";

export interface Ring {
  at: THREE.Vector3;
  colour: number;
  /** Metres across. */
  size: number;
  opacity: number;
  /** Whether it is drawn as a pin. */
  pinned?: boolean;
}

export class Rings {
  readonly group = new THREE.Group();
  private readonly picture = ringTexture(false);
  private readonly pin = ringTexture(true);
  private readonly made: THREE.Sprite[] = [];

  constructor() {
    this.group.name = HANDLES;
  }

  show(rings: Ring[]): void {
    while (this.made.length < rings.length) this.add();
    this.made.forEach((sprite, i) => {
      const ring = rings[i];
      sprite.visible = ring !== undefined;
      if (!ring) return;
      sprite.position.copy(ring.at);
      sprite.scale.setScalar(ring.size);
      sprite.material.color.setHex(ring.colour);
      sprite.material.opacity = ring.opacity;
      sprite.material.map = ring.pinned ? this.pin : this.picture;
    });
  }

  private add(): void {
    const material = new THREE.SpriteMaterial({ map: this.picture, depthTest: false, depthWrite: false, transparent: true, fog: false });
    const sprite = new THREE.Sprite(material);
    sprite.renderOrder = 5;
    this.made.push(sprite);
    this.group.add(sprite);
  }

  dispose(): void {
    this.picture.dispose();
    this.pin.dispose();
    for (const sprite of this.made) sprite.material.dispose();
  }
}

/** A ring with a dot; a pin is filled, with a dark middle. */
function ringTexture(pinned: boolean): THREE.CanvasTexture {
  const canvas = Object.assign(document.createElement("canvas"), { width: 128, height: 128 });
  const pen = canvas.getContext("2d")!;
  const circle = (radius: number) => {
    pen.beginPath();
    pen.arc(64, 64, radius, 0, 2 * Math.PI);
  };
  pen.fillStyle = pinned ? "#ffffff" : "rgb(255 255 255 / 22%)";
  circle(54);
  pen.fill();
  pen.strokeStyle = pen.fillStyle = "#ffffff";
  pen.lineWidth = 11;
  circle(52);
  pen.stroke();
  if (pinned) pen.globalCompositeOperation = "destination-out";
  circle(pinned ? 17 : 13);
  pen.fill();
  return new THREE.CanvasTexture(canvas);
}
