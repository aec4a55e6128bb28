// Where three-vrm puts every node of a VRM file while some of its nodes are moved, with springs and constraints, or while
// a VRM animation plays.
//
// Takes on stdin a list of {file, dt, moving, frames} or {file, animation, times}. moving: nodes; frames: for each frame and
// moving node, its local translation and rotation, 7 numbers. exactLengths: three-vrm 3.5 measures a bone
// (VRMSpringBoneJoint._calcWorldSpaceBoneLength) from where it is to where its end was before the bone above was rotated in
// this frame, because VRMSpringBoneManager.update brings the matrix of a bone up to date only when it is its turn; whether to
// bring that of the end up to date first. animation: a .vrma file; times: seconds. Gives on stdout, for each, {worlds,
// lengths}: for each frame the world matrix of each node in the order of the file, 16 numbers, column by column; and for each
// frame the lengths that were measured of bones whose end is a node, as shares of those that they have, in the order in
// which they are rotated.
import fs from 'node:fs'
import { text } from 'node:stream/consumers'

globalThis.self = globalThis // As in a browser, where the loader expects to be.
globalThis.ProgressEvent ??= class {}
const { AnimationMixer, LoopOnce, Texture, Vector3 } = await import('three')
const { GLTFLoader } = await import('three/addons/loaders/GLTFLoader.js')
const { VRMLoaderPlugin } = await import('@pixiv/three-vrm')
const { VRMAnimationLoaderPlugin, createVRMAnimationClip } = await import('@pixiv/three-vrm-animation')

const loader = new GLTFLoader()
loader.register(() => ({ name: 'no pictures', loadTexture: async () => new Texture() }))

async function open(file, plugin) {
  loader.register(plugin)
  const bytes = new Uint8Array(fs.readFileSync(file)).buffer
  const gltf = await loader.parseAsync(bytes, '')
  loader.unregister(plugin)
  return gltf
}

async function judge({ file, dt, moving, frames, exactLengths, animation, times }) {
  const raw = animation === undefined // The file's own bones are moved, not three-vrm's normalized ones.
  const gltf = await open(file, (parser) => new VRMLoaderPlugin(parser, { autoUpdateHumanBones: !raw }))
  const nodes = await gltf.parser.getDependencies('node')
  const { vrm } = gltf.userData
  const look = () => {
    gltf.scene.updateMatrixWorld(true)
    return nodes.map((node) => node.matrixWorld.elements.slice())
  }
  const [lengths, head, end] = [[], new Vector3(), new Vector3()]
  for (const joint of raw ? vrm.springBoneManager.joints : []) {
    const measure = joint._calcWorldSpaceBoneLength.bind(joint)
    joint._calcWorldSpaceBoneLength = () => {
      if (exactLengths) joint.child?.matrixWorld.multiplyMatrices(joint.bone.matrixWorld, joint.child.matrix)
      measure()
      head.setFromMatrixPosition(joint.bone.matrixWorld)
      if (joint.child) lengths.at(-1).push(joint._worldSpaceBoneLength / joint.bone.localToWorld(end.copy(joint.child.position)).distanceTo(head))
    }
  }
  if (raw) {
    const worlds = frames.map((poses) => {
      lengths.push([])
      poses.forEach((pose, n) => {
        nodes[moving[n]].position.fromArray(pose)
        nodes[moving[n]].quaternion.fromArray(pose, 3)
      })
      gltf.scene.updateMatrixWorld(true)
      vrm.update(dt)
      return look()
    })
    return { worlds, lengths }
  }
  const made = await open(animation, (parser) => new VRMAnimationLoaderPlugin(parser))
  const mixer = new AnimationMixer(vrm.scene)
  const action = mixer.clipAction(createVRMAnimationClip(made.userData.vrmAnimations[0], vrm)).setLoop(LoopOnce)
  action.clampWhenFinished = true
  const worlds = times.map((time) => {
    action.reset().play()
    action.time = time
    mixer.update(0)
    vrm.update(0)
    return look()
  })
  return { worlds, lengths }
}

const answers = []
for (const job of JSON.parse(await text(process.stdin))) answers.push(await judge(job).catch((error) => ({ error: String(error.stack) })))
process.stdout.write(JSON.stringify(answers))
