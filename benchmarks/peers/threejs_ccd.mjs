// The three.js side of threejs_peer.py: reads problems as JSON lines, answers with seconds a solve and the joints.
//
// A problem is {bones, length, tolerance, passes, targets}. A chain of equal bones along +Y is solved for each
// target from straight, one pass of CCDIKSolver at a time, until its tip is near enough or the passes are used up.
// The solver has no tolerance of its own, so this is the least work it can do. Only the solving is timed.
//
// Usage: node threejs_ccd.mjs FOLDER_HOLDING_NODE_MODULES

import { createRequire } from "node:module";
import { resolve, sep } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(resolve(process.argv[2]) + sep));
// The addon imports "three" by name, which resolves to the module build beside it; a second copy would not match.
const addon = require.resolve("three/addons/animation/CCDIKSolver.js");
const THREE = await import(pathToFileURL(resolve(addon, "../../../../build/three.module.js")));
const { CCDIKSolver } = await import(pathToFileURL(addon));

function makeChain(count, length, passes) {
  const bones = Array.from({ length: count + 2 }, () => new THREE.Bone());
  const [tip, goal] = [count, count + 1];
  for (let i = 1; i <= tip; i++) {
    bones[i].position.y = length;
    bones[i - 1].add(bones[i]);
  }
  const mesh = new THREE.SkinnedMesh(new THREE.BufferGeometry());
  mesh.add(bones[0], bones[goal]);
  mesh.bind(new THREE.Skeleton(bones));
  const links = Array.from({ length: count }, (_, i) => ({ index: tip - 1 - i }));
  const ik = { target: goal, effector: tip, links, iteration: 1 };
  return { mesh, bones, tip, goal, passes, solver: new CCDIKSolver(mesh, [ik]) };
}

const tipPosition = new THREE.Vector3();
const goalPosition = new THREE.Vector3();

function solve(chain, target, near) {
  for (const bone of chain.bones) bone.quaternion.identity();
  chain.bones[chain.goal].position.fromArray(target);
  goalPosition.fromArray(target);
  chain.mesh.updateMatrixWorld(true);
  for (let pass = 0; pass < chain.passes; pass++) {
    chain.solver.update();
    tipPosition.setFromMatrixPosition(chain.bones[chain.tip].matrixWorld);
    if (tipPosition.distanceTo(goalPosition) <= near) return;
  }
}

function answer(problem) {
  const chain = makeChain(problem.bones, problem.length, problem.passes);
  const joints = [];
  let seconds = 0;
  for (const target of problem.targets) {
    const start = process.hrtime.bigint();
    solve(chain, target, problem.tolerance);
    seconds += Number(process.hrtime.bigint() - start) * 1e-9;
    joints.push(chain.bones.slice(0, chain.tip + 1).map((b) => b.getWorldPosition(new THREE.Vector3()).toArray()));
  }
  return { seconds: seconds / problem.targets.length, joints };
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(answer(JSON.parse(line))));
}
