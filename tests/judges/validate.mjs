// What the Khronos validator finds in files. Takes on stdin a list of files; gives on stdout, for each, a list of
// {severity: 0 error, 1 warning, 2 information, 3 hint; code, message, pointer}.
import fs from 'node:fs'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import validator from 'gltf-validator'

async function judge(file) {
  const beside = (uri) => path.join(path.dirname(file), decodeURIComponent(uri))
  const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(file)), {
    uri: path.basename(file),
    maxIssues: 0, // As many as there are.
    externalResourceFunction: async (uri) => new Uint8Array(fs.readFileSync(beside(uri))),
  })
  return report.issues.messages
}

const answers = []
for (const file of JSON.parse(await text(process.stdin))) answers.push(await judge(file))
process.stdout.write(JSON.stringify(answers))
