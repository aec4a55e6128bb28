// A crowd of skinned characters: matrices go to the graphics card as they come, which skins thousands of them at once.
// Every character is drawn at a level of detail by its distance; those out of sight are left out.

import * as THREE from "three";
import { LOOKS, STEPS_A_METRE } from "../protocol";
import { SOFTWARE, speck } from "./space";

/** Texels that the matrix of one joint takes: one for each of its rows. */
const ROWS = 3;
/** Characters in one row of the texture. */
const A_ROW = 4;
/** Slots of a look. */
const SLOTS = 6;
/** Distances up to which each level is drawn, metres, but for the last. */
const NEAR = SOFTWARE ? [2, 4, 8] : [8, 20, 40];
/** How many are in the first picture, and how many times as many in each one after it. */
const FIRST = SOFTWARE ? 60 : Infinity;
const GROWTH = 1.6;
/** Radius of a ball around a character, metres, and the height of its middle. */
const AROUND = 1.3;
const MIDDLE = 0.9;

const DECLARED = /* glsl */ `
  uniform highp isampler2D matrices;
  uniform int joints;
  uniform vec3 looks[${SLOTS * LOOKS}];
  in vec4 origin;
  in float who;
  in vec2 bones;
  in vec2 shares;
  in vec3 own;
  in float slot;
  out vec3 tint;
  mat4x3 matrixOf(int bone) {
    int first = int(who) * joints * ${ROWS} + bone * ${ROWS};
    int wide = joints * ${ROWS * A_ROW};
    vec4 a = vec4(texelFetch(matrices, ivec2(first % wide, first / wide), 0));
    vec4 b = vec4(texelFetch(matrices, ivec2((first + 1) % wide, (first + 1) / wide), 0));
    vec4 c = vec4(texelFetch(matrices, ivec2((first + 2) % wide, (first + 2) / wide), 0));
    return transpose(mat3x4(a, b, c)) * (1.0 / ${STEPS_A_METRE}.0);
  }
`;
const NORMAL = /* glsl */ `
  mat4x3 skinned = matrixOf(int(bones.x));
  if (shares.y > 0.0) skinned = skinned * shares.x + matrixOf(int(bones.y)) * shares.y;
  vec3 objectNormal = mat3(skinned[0], skinned[1], skinned[2]) * normal;
  tint = slot < 0.0 ? own * own : looks[int(origin.w) * ${SLOTS} + int(slot)];
`;
const POSITION = "vec3 transformed = skinned * vec4(position, 1.0) + origin.xyz;";

/** One level of detail: its surface, and who is drawn with it. */
class Level {
  readonly mesh: THREE.Mesh<THREE.InstancedBufferGeometry>;
  private origins!: THREE.InstancedBufferAttribute;
  private numbers!: THREE.InstancedBufferAttribute;
  private room = 0;
  count = 0;

  /** data: as `packed_level` in scenes/people.py packs it. */
  constructor(data: ArrayBuffer, material: THREE.Material) {
    const [vertices, triangles] = new Uint32Array(data, 0, 2) as unknown as [number, number];
    const geometry = new THREE.InstancedBufferGeometry();
    let offset = 8;
    for (const [name, width] of [["position", 3], ["normal", 3], ["own", 3], ["bones", 2], ["shares", 2], ["slot", 1]] as const) {
      geometry.setAttribute(name, new THREE.BufferAttribute(new Float32Array(data, offset, width * vertices), width));
      offset += 4 * width * vertices;
    }
    geometry.setIndex(new THREE.BufferAttribute(new Uint32Array(data, offset, 3 * triangles), 1));
    this.mesh = new THREE.Mesh(geometry, material);
    this.mesh.frustumCulled = false;
    this.makeRoom(64);
  }

  private makeRoom(room: number): void {
    if (room <= this.room) return;
    const before = this.room ? [this.origins.array, this.numbers.array] : [[], []];
    this.room = 2 ** Math.ceil(Math.log2(room));
    this.origins = new THREE.InstancedBufferAttribute(new Float32Array(4 * this.room), 4);
    this.numbers = new THREE.InstancedBufferAttribute(new Float32Array(this.room), 1);
    (this.origins.array as Float32Array).set(before[0]!);
    (this.numbers.array as Float32Array).set(before[1]!);
    this.mesh.geometry.dispose();
    this.mesh.geometry.setAttribute("origin", this.origins);
    this.mesh.geometry.setAttribute("who", this.numbers);
  }

  add(who: number, origins: Float32Array): void {
    this.makeRoom(this.count + 1);
    for (let i = 0; i < 4; i++) this.origins.array[4 * this.count + i] = origins[4 * who + i]!;
    this.numbers.array[this.count] = who;
    this.count += 1;
  }

  send(): void {
    this.origins.needsUpdate = this.numbers.needsUpdate = true;
    this.mesh.geometry.instanceCount = this.count;
    this.mesh.visible = this.count > 0;
  }
}

export class People {
  readonly group = new THREE.Group();
  /** How many are drawn at each level. */
  drawn: number[] = [];
  private readonly uniforms = {
    matrices: { value: new THREE.DataTexture() as THREE.Texture },
    joints: { value: 1 },
    looks: { value: Array.from({ length: SLOTS * LOOKS }, () => new THREE.Color()) },
  };
  private readonly material = new THREE.MeshPhongMaterial({ shininess: 24, specular: 0x1c1c1c });
  private readonly shade = new THREE.InstancedMesh(
    new THREE.CircleGeometry(0.34, 12).rotateX(-Math.PI / 2),
    new THREE.MeshBasicMaterial({ color: 0x000000, transparent: true, opacity: 0.2, depthWrite: false }),
    0,
  );
  /** By number, finest first; the coarsest arrives first. */
  private readonly levels: Level[] = [];
  private most = FIRST;
  private texture: THREE.DataTexture | null = null;
  private origins: Float32Array = new Float32Array(0);

  constructor() {
    this.material.onBeforeCompile = (shader) => {
      Object.assign(shader.uniforms, this.uniforms);
      shader.vertexShader =
        DECLARED + shader.vertexShader.replace("#include <beginnormal_vertex>", NORMAL).replace("#include <begin_vertex>", POSITION);
      shader.fragmentShader = "in vec3 tint;\n" + shader.fragmentShader.replace("#include <color_fragment>", "diffuseColor.rgb *= tint;");
    };
    this.group.add(this.shade);
  }

  /** Drawn like the characters before they arrive. */
  standIn(): THREE.Object3D {
    const geometry = speck({ position: 3, normal: 3, own: 3, bones: 2, shares: 2, slot: 1 });
    const instanced = new THREE.InstancedBufferGeometry();
    for (const [name, attribute] of Object.entries(geometry.attributes)) instanced.setAttribute(name, attribute);
    for (const [name, width] of [["origin", 4], ["who", 1]] as const) instanced.setAttribute(name, new THREE.InstancedBufferAttribute(new Float32Array(width), width));
    instanced.instanceCount = 1;
    this.allocate(1, 1);
    const mesh = new THREE.Mesh(instanced, this.material);
    mesh.frustumCulled = false;
    return mesh;
  }

  get ready(): boolean {
    return this.levels.length > 0;
  }

  /** Add a level of detail. All of them are used from then on. */
  add(number: number, data: ArrayBuffer): void {
    const level = new Level(data, this.material);
    this.levels[number] = level;
    this.group.add(level.mesh);
  }

  /** looks: colours by look and slot, as in `palettes_of_looks`. */
  dress(looks: number[][][]): void {
    looks.forEach((slots, look) => slots.forEach(([r, g, b], slot) => this.uniforms.looks.value[look * SLOTS + slot]!.setRGB(r!, g!, b!, THREE.SRGBColorSpace)));
  }

  /** palettes: the matrices of all joints, as `People.palettes` packs them. origins: x, y, z and the look of each. */
  show(palettes: Int16Array, joints: number, origins: Float32Array): void {
    this.origins = origins;
    this.uniforms.joints.value = joints;
    const [width, count] = [joints * ROWS * A_ROW, origins.length / 4];
    const height = Math.ceil(count / A_ROW);
    if (this.texture?.image.width !== width || this.texture.image.height !== height) this.allocate(width, height);
    (this.texture!.image.data as unknown as Int16Array).set(palettes);
    this.texture!.needsUpdate = true;
  }

  private allocate(width: number, height: number): void {
    this.texture?.dispose();
    this.texture = new THREE.DataTexture(new Int16Array(4 * width * height), width, height, THREE.RGBAIntegerFormat, THREE.ShortType);
    this.texture.internalFormat = "RGBA16I";
    this.texture.needsUpdate = true;
    this.uniforms.matrices.value = this.texture;
  }

  /** Choose who is drawn at which level, for a camera. */
  arrange(lens: THREE.PerspectiveCamera): void {
    if (!this.ready) return;
    const count = Math.min(this.origins.length / 4, Math.round(this.most));
    this.most *= GROWTH;
    const view = new THREE.Frustum().setFromProjectionMatrix(new THREE.Matrix4().multiplyMatrices(lens.projectionMatrix, lens.matrixWorldInverse));
    const ball = new THREE.Sphere(new THREE.Vector3(), AROUND);
    this.levels.forEach((level) => (level.count = 0));
    for (let i = 0; i < count; i++) {
      ball.center.set(this.origins[4 * i]!, this.origins[4 * i + 1]! + MIDDLE, this.origins[4 * i + 2]!);
      if (!view.intersectsSphere(ball)) continue;
      const away = ball.center.distanceTo(lens.position);
      this.levelAt(away).add(i, this.origins);
    }
    this.levels.forEach((level) => level.send());
    this.drawn = Array.from(this.levels, (level?: Level) => level?.count ?? 0);
    this.drawShades(count);
  }

  /** The level for a distance, metres; a coarser one where it has not arrived. */
  private levelAt(away: number): Level {
    const wanted = NEAR.findIndex((distance) => away < distance);
    return this.levels.find((level, number) => level && wanted >= 0 && number >= wanted) ?? this.levels.at(-1)!;
  }

  /** A dark disc under everybody. */
  private drawShades(count: number): void {
    if (this.shade.count !== count) {
      this.shade.instanceMatrix = new THREE.InstancedBufferAttribute(new Float32Array(16 * count), 16);
      this.shade.count = count;
      this.shade.frustumCulled = false;
    }
    const at = this.shade.instanceMatrix.array;
    for (let i = 0; i < count; i++) {
      at[16 * i] = at[16 * i + 5] = at[16 * i + 10] = at[16 * i + 15] = 1;
      for (let axis = 0; axis < 3; axis++) at[16 * i + 12 + axis] = this.origins[4 * i + axis]! + (axis === 1 ? 0.03 : 0);
    }
    this.shade.instanceMatrix.needsUpdate = true;
  }

  dispose(): void {
    this.texture?.dispose();
  }
}
