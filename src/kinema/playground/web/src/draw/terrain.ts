// The ground that characters walk on: a body with a fine grid on it, on a wide floor.

import * as THREE from "three";
import { FLOOR as FLOOR_NAME, GROUNDS, type Theme } from "../view";
import { SOFTWARE, speck } from "./space";
import { TriangleBins } from "./triangle_bins";

/** Metres from line to line. */
const MESH = 0.5;
const FLOOR = { height: -0.301, radius: 60 };
/** Angle between two faces from which on their edge is drawn, degrees. */
const EDGE = 40;
/** Brightness of a vertical wall relative to level ground. */
const WALL = 0.66;

/** Opacity of ground that hides what is to be seen, seconds in which it fades half of the way, and every which frame is
 * checked. */
const FADED = 0.3;
const FADE_HALF_LIFE = 0.12;
const CHECKED_FRAMES = 8;
/** Ground this near to what is to be seen does not hide it, metres. */
const NEAR_GROUND = 0.12;
/** Height above all ground, metres. */
const HIGHEST = 30;
const DOWN = new THREE.Vector3(0, -1, 0);
/** Feet whose ground never fades, and metres around a person's foot that do not. */
const MOST_FEET = 8;
const UNDER_FOOT = 0.5;
/** Metres around the middle of a person: within the cone from the eye to there, ground fades. */
const AROUND_BODY = 1.25;

/** What keeps the ground as it is but between the eye and the body, and below feet. body, feet: positions, and radii around
 * them. */
function keepRest(body: THREE.Vector4, feet: THREE.Vector4[]): (shader: THREE.WebGLProgramParametersWithUniforms) => void {
  return (shader) => {
    shader.uniforms["body"] = { value: body };
    shader.uniforms["feet"] = { value: feet };
    shader.vertexShader = `varying vec3 kinemaAt;\n${shader.vertexShader.replace("#include <begin_vertex>", "#include <begin_vertex>\nkinemaAt = position;")}`;
    const keep = `#include <color_fragment>
      vec3 way = body.xyz - cameraPosition;
      float along = dot(kinemaAt - cameraPosition, way) / dot(way, way);
      float aside = distance(kinemaAt, cameraPosition + along * way);
      diffuseColor.a = mix(diffuseColor.a, 1.0, along > 1.0 ? 1.0 : smoothstep(0.7 * body.w, body.w, aside / along));
      for (int i = 0; i < ${MOST_FEET}; i++) {
        float near = 1.0 - smoothstep(0.7 * feet[i].w, feet[i].w, distance(kinemaAt.xz, feet[i].xz));
        if (kinemaAt.y <= feet[i].y) diffuseColor.a = mix(diffuseColor.a, 1.0, near);
      }`;
    shader.fragmentShader = `varying vec3 kinemaAt;\nuniform vec4 body;\nuniform vec4 feet[${MOST_FEET}];\n${shader.fragmentShader.replace("#include <color_fragment>", keep)}`;
  };
}

export class Terrain {
  readonly group = new THREE.Group();
  private readonly lines = gridTexture();
  private readonly body = new THREE.MeshPhongMaterial({ flatShading: true, shininess: 6, specular: 0x111111, map: this.lines, vertexColors: true, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 });
  private readonly rim = new THREE.LineBasicMaterial({ transparent: true });
  private readonly floor = new THREE.MeshBasicMaterial({ map: this.lines });
  private mesh: THREE.Mesh | null = null;
  private edges: THREE.LineSegments | null = null;
  private bins: TriangleBins | null = null;
  private readonly ray = new THREE.Ray();
  /** Middle of the body, and the radius around it. */
  private readonly seen = new THREE.Vector4(0, 0, 0, AROUND_BODY);
  /** Position of each foot, and the radius around it. */
  private readonly feet = Array.from({ length: MOST_FEET }, () => new THREE.Vector4(0, -HIGHEST, 0, UNDER_FOOT));
  private frames = 0;
  private hides = false;

  constructor() {
    this.body.onBeforeCompile = keepRest(this.seen, this.feet);
    const disc = new THREE.CircleGeometry(FLOOR.radius, 96).rotateX(-Math.PI / 2);
    const [at, uv] = [disc.attributes["position"]!, disc.attributes["uv"]!];
    for (let i = 0; i < at.count; i++) uv.setXY(i, at.getX(i) / (2 * MESH), at.getZ(i) / (2 * MESH));
    const floor = new THREE.Mesh(disc, this.floor);
    floor.position.y = FLOOR.height;
    floor.name = FLOOR_NAME;
    this.group.name = GROUNDS;
    this.group.add(floor);
  }

  /** data: as `packed` in scenes/character_files.py packs it. */
  build(data: ArrayBuffer): void {
    const [vertices, triangles] = new Uint32Array(data, 0, 2) as unknown as [number, number];
    const indexed = new THREE.BufferGeometry();
    indexed.setAttribute("position", new THREE.BufferAttribute(new Float32Array(data, 8, 3 * vertices), 3));
    indexed.setIndex(new THREE.BufferAttribute(new Uint32Array(data, 8 + 12 * vertices, 3 * triangles), 1));
    const shape = indexed.toNonIndexed();
    shape.computeVertexNormals();
    shape.setAttribute("uv", gridOf(shape));
    shape.setAttribute("color", shadesOf(shape));
    for (const part of [this.mesh, this.edges]) {
      part?.geometry.dispose();
      part?.removeFromParent();
    }
    this.mesh = new THREE.Mesh(shape, this.body);
    this.bins = new TriangleBins(shape.attributes["position"] as THREE.BufferAttribute);
    this.mesh.castShadow = this.mesh.receiveShadow = true;
    this.edges = new THREE.LineSegments(new THREE.EdgesGeometry(indexed, EDGE), this.rim);
    this.group.add(this.mesh, this.edges);
  }

  /** Drawn like the ground before it is built. */
  standIns(): THREE.Object3D[] {
    const body = new THREE.Mesh(speck({ position: 3, normal: 3, uv: 2, color: 3 }), this.body);
    body.castShadow = body.receiveShadow = true;
    return [body, new THREE.LineSegments(speck({ position: 3 }), this.rim)];
  }

  get isBuilt(): boolean {
    return this.mesh !== null;
  }

  /** Height of the ground at x and z; null where there is none. */
  height(x: number, z: number): number | null {
    this.ray.set(new THREE.Vector3(x, HIGHEST, z), DOWN);
    return this.bins?.nearest(this.ray)?.y ?? null;
  }

  /** The nearest point of the ground on a ray; null where there is none. */
  under(ray: THREE.Ray): THREE.Vector3 | null {
    return this.bins?.nearest(ray) ?? null;
  }

  /** Fade where it is between the eye and what is to be seen, but not below feet. Call it for every drawn frame.
   * seen: points of the body, the last one its middle. times: size of the character, relative to a person. */
  fade(eye: THREE.Vector3, seen: THREE.Vector3[], feet: THREE.Vector3[], times: number, elapsed: number): void {
    const middle = seen.at(-1)!;
    this.seen.set(middle.x, middle.y, middle.z, AROUND_BODY * times);
    this.feet.forEach((foot, i) => {
      const { x, y, z } = feet[i] ?? new THREE.Vector3(0, -HIGHEST, 0);
      foot.set(x, y, z, UNDER_FOOT * times);
    });
    this.frames = (this.frames + 1) % CHECKED_FRAMES;
    if (this.frames === 0 && this.mesh) this.hides = seen.some((point) => this.isBetween(eye, point));
    const goal = this.hides ? FADED : 1;
    this.body.opacity += (goal - this.body.opacity) * (1 - 0.5 ** (elapsed / FADE_HALF_LIFE));
    const see = this.body.opacity < 0.99;
    if (see === this.body.transparent) return;
    this.body.transparent = see;
    this.body.needsUpdate = true;
  }

  /** Whether the ground's opacity is reduced. */
  get isFaded(): boolean {
    return this.body.opacity < 0.9;
  }

  private isBetween(eye: THREE.Vector3, point: THREE.Vector3): boolean {
    const way = point.clone().sub(eye);
    this.ray.set(eye, way.clone().normalize());
    return this.bins!.nearest(this.ray, way.length() - NEAR_GROUND) !== null;
  }

  paint(theme: Theme): void {
    this.body.color.set(theme.dark ? 0x9a8468 : 0xe6c897);
    this.floor.color.set(theme.dark ? 0x1b232d : 0xe4ebf1);
    this.rim.color.set(theme.dark ? 0xd8c3a0 : 0x86663a);
    this.rim.opacity = theme.dark ? 0.5 : 0.55;
  }

  dispose(): void {
    this.lines.dispose();
    this.rim.dispose();
  }
}

/** Where each corner is on the grid: seen from above, or from the side that a wall faces. */
function gridOf(shape: THREE.BufferGeometry): THREE.BufferAttribute {
  const [at, normal] = [shape.attributes["position"]!, shape.attributes["normal"]!];
  const uv = new Float32Array(2 * at.count);
  for (let i = 0; i < at.count; i++) {
    const [x, y, z] = [Math.abs(normal.getX(i)), Math.abs(normal.getY(i)), Math.abs(normal.getZ(i))];
    const flat = y > 0.3;
    uv[2 * i] = (!flat && x > z ? at.getZ(i) : at.getX(i)) / MESH;
    uv[2 * i + 1] = (flat ? at.getZ(i) : at.getY(i)) / MESH;
  }
  return new THREE.BufferAttribute(uv, 2);
}

/** Brightness of each corner: walls and slopes are darker than level ground. */
function shadesOf(shape: THREE.BufferGeometry): THREE.BufferAttribute {
  const normal = shape.attributes["normal"]!;
  const shades = new Float32Array(3 * normal.count);
  for (let i = 0; i < normal.count; i++) shades.fill(WALL + (1 - WALL) * Math.max(normal.getY(i), 0) ** 2, 3 * i, 3 * i + 3);
  return new THREE.BufferAttribute(shades, 3);
}

/** One cell: white, with a faint line around it. */
function gridTexture(): THREE.CanvasTexture {
  const canvas = Object.assign(document.createElement("canvas"), { width: 128, height: 128 });
  const pen = canvas.getContext("2d")!;
  pen.fillStyle = "#ffffff";
  pen.fillRect(0, 0, 128, 128);
  pen.strokeStyle = "#cfcfcf";
  pen.lineWidth = 3;
  pen.strokeRect(0, 0, 128, 128);
  const texture = new THREE.CanvasTexture(canvas);
  texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
  texture.anisotropy = SOFTWARE ? 1 : 8;
  texture.colorSpace = THREE.SRGBColorSpace;
  return texture;
}
