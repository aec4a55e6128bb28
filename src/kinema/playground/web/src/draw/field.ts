// A field of chains: the joints go to the graphics card unchanged, which draws a rod between every two of them.

import * as THREE from "three";

const FRAME = /* glsl */ `
  vec3 along = boneEnd - boneStart;
  float size = max(length(along), 1e-6);
  vec3 boneY = along / size;
  vec3 boneX = normalize(cross(boneY, abs(boneY.z) < 0.9 ? vec3(0.0, 0.0, 1.0) : vec3(1.0, 0.0, 0.0)));
  vec3 boneZ = cross(boneX, boneY);
  vec3 objectNormal = boneX * normal.x + boneY * normal.y + boneZ * normal.z;
`;
const POSITION = /* glsl */ `
  int joint = gl_InstanceID % joints;
  float share = (float(joint) + position.y) / float(joints - 1);
  float thick = mix(thickness.x, thickness.y, share);
  vec3 transformed = boneStart + (boneX * position.x + boneZ * position.z) * thick + along * position.y;
  if (joint == joints - 1) transformed = boneStart; // From a tip to the next root there is no bone.
  float chance = fract(sin(float(gl_InstanceID / joints) * 12.9898) * 43758.5453);
  tint = mix(mix(tints[0], tints[1], chance), tints[2], share * share * 0.6);
`;

export class Field {
  readonly mesh: THREE.Mesh<THREE.InstancedBufferGeometry, THREE.MeshPhongMaterial>;
  private readonly uniforms = {
    joints: { value: 3 },
    thickness: { value: new THREE.Vector2(0.05, 0.02) },
    tints: { value: [new THREE.Color(), new THREE.Color(), new THREE.Color()] },
  };
  private buffer: THREE.InstancedInterleavedBuffer | null = null;

  constructor(sides: number) {
    const rod = new THREE.CylinderGeometry(1, 1, 1, sides, 1, true);
    rod.translate(0, 0.5, 0);
    const geometry = new THREE.InstancedBufferGeometry();
    geometry.index = rod.index;
    for (const name of ["position", "normal"]) geometry.setAttribute(name, rod.getAttribute(name));
    const material = new THREE.MeshPhongMaterial({ shininess: 30, specular: 0x222222, side: THREE.DoubleSide });
    material.onBeforeCompile = (shader) => {
      Object.assign(shader.uniforms, this.uniforms);
      const declared = "in vec3 boneStart; in vec3 boneEnd; uniform int joints; uniform vec2 thickness; uniform vec3 tints[3]; out vec3 tint;\n";
      shader.vertexShader =
        declared + shader.vertexShader.replace("#include <beginnormal_vertex>", FRAME).replace("#include <begin_vertex>", POSITION);
      shader.fragmentShader = "in vec3 tint;\n" + shader.fragmentShader.replace("#include <color_fragment>", "diffuseColor.rgb *= tint;");
    };
    this.mesh = new THREE.Mesh(geometry, material);
    this.mesh.frustumCulled = false;
  }

  colours(...colours: [number, number, number]): void {
    colours.forEach((colour, i) => this.uniforms.tints.value[i]!.set(colour));
  }

  /** joints: x, y, z of every chain's joints, `count` joints each. */
  show(joints: Float32Array, count: number): void {
    this.uniforms.joints.value = count;
    // One more at the end: the last tip, too, looks at the joint after it.
    if (this.buffer?.array.length !== joints.length + 3) this.allocate(joints.length + 3);
    const buffer = this.buffer!;
    (buffer.array as Float32Array).set(joints);
    buffer.needsUpdate = true;
    this.mesh.geometry.instanceCount = joints.length / 3;
  }

  private allocate(length: number): void {
    this.buffer = new THREE.InstancedInterleavedBuffer(new Float32Array(length), 3);
    this.buffer.setUsage(THREE.DynamicDrawUsage);
    this.mesh.geometry.dispose();
    this.mesh.geometry.setAttribute("boneStart", new THREE.InterleavedBufferAttribute(this.buffer, 3, 0));
    this.mesh.geometry.setAttribute("boneEnd", new THREE.InterleavedBufferAttribute(this.buffer, 3, 3));
  }
}
