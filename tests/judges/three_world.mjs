// Where three.js puts every node of a file, at rest and while its clips play. Nothing is drawn.
//
// Takes on stdin a list of {file, times}: for each clip of the file, in its order, the seconds to look at. Gives on stdout,
// for each file, {rest, clips}: at rest, and for each clip and moment, {nodes, corners}. Or {error}.
// nodes: world matrices in the order of the file's nodes, 16 numbers each, column by column.
// corners: where some corners of each surface are in the world, surfaces in the order of the nodes that show them.
import fs from 'node:fs'
import path from 'node:path'
import { text } from 'node:stream/consumers'

globalThis.self = globalThis // As in a browser, where the loader expects to be.
globalThis.ProgressEvent ??= class {}
const { AnimationMixer, BufferGeometry, Group, LoopOnce, Texture, Vector3 } = await import('three')
const { BVHLoader } = await import('three/addons/loaders/BVHLoader.js')
const { GLTFLoader } = await import('three/addons/loaders/GLTFLoader.js')
const { MeshoptDecoder } = await import('three/addons/libs/meshopt_decoder.module.js')

const CORNERS = 12 // Of each surface.

// Nothing is drawn: pictures and compressed triangles are not unpacked.
const loader = new GLTFLoader()
loader.register(() => ({ name: 'no pictures', loadTexture: async () => new Texture() }))
loader.setDRACOLoader({ preload() {}, decodeDracoFile: (bytes, done) => done(new BufferGeometry()) })
loader.setMeshoptDecoder(MeshoptDecoder)

// A .gltf with the buffers that lie beside it put inside.
function selfContained(file) {
  const gltf = JSON.parse(fs.readFileSync(file, 'utf8'))
  for (const buffer of gltf.buffers ?? []) {
    if (!buffer.uri || buffer.uri.startsWith('data:')) continue
    const bytes = fs.readFileSync(path.join(path.dirname(file), decodeURIComponent(buffer.uri)))
    buffer.uri = 'data:application/octet-stream;base64,' + bytes.toString('base64')
  }
  return JSON.stringify(gltf)
}

async function openGltf(file) {
  const bytes = fs.readFileSync(file)
  const isBinary = bytes.toString('latin1', 0, 4) === 'glTF'
  const { parser, animations } = await loader.parseAsync(isBinary ? new Uint8Array(bytes).buffer : selfContained(file), '')
  const nodes = await parser.getDependencies('node')
  return { nodes, animations }
}

function openBvh(file) {
  const { skeleton, clip } = new BVHLoader().parse(fs.readFileSync(file, 'utf8'))
  return { nodes: skeleton.bones, animations: [clip] }
}

function rootOf(object) {
  while (object.parent) object = object.parent
  return object
}

// The surfaces that a node shows: itself, or one for each material below it, which are no nodes of the file.
function surfacesOf(node, nodes) {
  return [node, ...node.children.filter((child) => !nodes.has(child))].filter((o) => o.isMesh && o.geometry.attributes.position)
}

// Corners of triangles, evenly spread, as morphs and joints move them.
function cornersOf(mesh) {
  const { index, attributes } = mesh.geometry
  const count = index ? index.count : attributes.position.count
  return Array.from({ length: CORNERS }, (_, k) => {
    const corner = Math.floor((k * count) / CORNERS)
    const vertex = index ? index.getX(corner) : corner
    const place = mesh.getVertexPosition(vertex, new Vector3())
    return place.applyMatrix4(mesh.matrixWorld).toArray()
  })
}

async function judge({ file, times }) {
  const { nodes, animations } = file.endsWith('.bvh') ? openBvh(file) : await openGltf(file)
  const everything = new Group() // Files may have several scenes, and nodes in none.
  for (const root of new Set(nodes.map(rootOf))) everything.add(root)
  const known = new Set(nodes)
  const surfaces = nodes.flatMap((node) => surfacesOf(node, known))
  const look = () => {
    everything.updateMatrixWorld(true)
    return { nodes: nodes.map((node) => node.matrixWorld.elements.slice()), corners: surfaces.map(cornersOf) }
  }

  const mixer = new AnimationMixer(everything)
  const rest = look()
  const clips = times.map((moments, i) => {
    const action = mixer.clipAction(animations[i]).setLoop(LoopOnce)
    action.clampWhenFinished = true
    const frames = moments.map((time) => {
      action.reset().play()
      action.time = time
      mixer.update(0)
      return look()
    })
    mixer.stopAllAction()
    return frames
  })
  return { rest, clips }
}

const answers = []
for (const job of JSON.parse(await text(process.stdin))) answers.push(await judge(job).catch((error) => ({ error: String(error) })))
process.stdout.write(JSON.stringify(answers))
