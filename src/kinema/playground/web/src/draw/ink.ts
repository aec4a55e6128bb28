// Ink: round strokes in the plane, thick or thin, tapered, dashed or hollow, all in one draw call and smooth at any size.

import * as THREE from "three";

const FLOATS = 12;

const VERTEX = /* glsl */ `
  in vec4 ends;
  in vec4 shape;
  in vec4 tint;
  out vec2 at;
  flat out vec4 line;
  flat out vec4 form;
  flat out vec4 colour;
  uniform float pixel;
  void main() {
    vec2 along = ends.zw - ends.xy;
    float size = length(along);
    vec2 x = size > 0.0 ? along / size : vec2(1.0, 0.0);
    vec2 y = vec2(-x.y, x.x);
    float reach = max(shape.x, shape.y) + 1.5 * pixel;
    vec2 corner = position.xy;
    at = mix(ends.xy, ends.zw, corner.x * 0.5 + 0.5) + reach * (x * corner.x + y * corner.y);
    line = ends;
    form = shape;
    colour = tint;
    gl_Position = projectionMatrix * viewMatrix * vec4(at, 0.0, 1.0);
  }
`;

const FRAGMENT = /* glsl */ `
  in vec2 at;
  flat in vec4 line;
  flat in vec4 form;
  flat in vec4 colour;
  out vec4 result;
  uniform float pixel;
  void main() {
    vec2 along = line.zw - line.xy;
    float square = dot(along, along);
    float share = square > 0.0 ? clamp(dot(at - line.xy, along) / square, 0.0, 1.0) : 0.0;
    float edge = distance(at, line.xy + along * share) - mix(form.x, form.y, share);
    if (form.z > 0.0) edge = abs(edge + 0.5 * form.z) - 0.5 * form.z;
    if (form.w > 0.0 && mod(share * sqrt(square), 2.0 * form.w) > form.w) discard;
    float cover = clamp(0.5 - edge / pixel, 0.0, 1.0);
    result = vec4(colour.rgb, colour.a * cover);
  }
`;

export interface Stroke {
  /** Radius at the end, if another than at the start. */
  taper?: number;
  /** Width of a ring; 0 is filled. */
  ring?: number;
  /** Length of a dash; 0 is none. */
  dash?: number;
  alpha?: number;
}

export class Ink {
  readonly mesh: THREE.Mesh;
  private data = new Float32Array(256 * FLOATS);
  private count = 0;
  private readonly geometry = new THREE.InstancedBufferGeometry();
  private readonly pixel = { value: 1 };

  constructor() {
    const corners = new Float32Array([-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0]);
    this.geometry.setAttribute("position", new THREE.BufferAttribute(corners, 3));
    this.geometry.setIndex([0, 1, 2, 0, 2, 3]);
    this.allocate();
    const material = new THREE.ShaderMaterial({
      glslVersion: THREE.GLSL3,
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      uniforms: { pixel: this.pixel },
      transparent: true,
      depthTest: false,
      depthWrite: false,
      side: THREE.DoubleSide,
    });
    this.mesh = new THREE.Mesh(this.geometry, material);
    this.mesh.frustumCulled = false;
  }

  /** Start anew. pixel: the size of one on the screen, in the scene's unit. */
  clear(pixel: number): void {
    this.count = 0;
    this.pixel.value = pixel;
  }

  line(ax: number, ay: number, bx: number, by: number, radius: number, colour: number, stroke: Stroke = {}): void {
    if ((this.count + 1) * FLOATS > this.data.length) this.grow();
    const { taper = radius, ring = 0, dash = 0, alpha = 1 } = stroke;
    const red = ((colour >> 16) & 255) / 255;
    const green = ((colour >> 8) & 255) / 255;
    this.data.set([ax, ay, bx, by, radius, taper, ring, dash, red, green, (colour & 255) / 255, alpha], this.count * FLOATS);
    this.count += 1;
  }

  dot(x: number, y: number, radius: number, colour: number, stroke: Stroke = {}): void {
    this.line(x, y, x, y, radius, colour, stroke);
  }

  /** All strokes are made: hand them over. */
  finish(): void {
    const buffer = (this.geometry.getAttribute("ends") as THREE.InterleavedBufferAttribute).data;
    buffer.needsUpdate = true;
    this.geometry.instanceCount = this.count;
    this.mesh.visible = this.count > 0;
  }

  dispose(): void {
    this.geometry.dispose();
    (this.mesh.material as THREE.Material).dispose();
  }

  private grow(): void {
    const larger = new Float32Array(this.data.length * 2);
    larger.set(this.data);
    this.data = larger;
    this.geometry.dispose();
    this.allocate();
  }

  private allocate(): void {
    const buffer = new THREE.InstancedInterleavedBuffer(this.data, FLOATS);
    buffer.setUsage(THREE.DynamicDrawUsage);
    this.geometry.setAttribute("ends", new THREE.InterleavedBufferAttribute(buffer, 4, 0));
    this.geometry.setAttribute("shape", new THREE.InterleavedBufferAttribute(buffer, 4, 4));
    this.geometry.setAttribute("tint", new THREE.InterleavedBufferAttribute(buffer, 4, 8));
  }
}
