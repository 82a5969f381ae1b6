// SPDX-License-Identifier: Apache-2.0
//
// A test of a push backend against WidgetLab's push server, with Node and nothing else. It starts the container with
// the command `docker`; with the package `testcontainers`, `before` and `after` do the same with its GenericContainer.
//
//     node --test push.test.mjs     # Node 20 or later
//
// The image is `widgetlab`, or the one that WIDGETLAB_IMAGE names.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { sign } from 'node:crypto'
import http2 from 'node:http2'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

const docker = (...words) => execFileSync('docker', words, { encoding: 'utf8' }).trim()
const inServer = (...words) => docker('exec', server, ...words)
let server, session, headers, deviceToken

// Repeats a question until its answer is true.
async function until(what, answer) {
  for (let tries = 0; tries < 300; tries++) {
    const result = answer()
    if (result) return result
    await sleep(100)
  }
  throw new Error(`timeout: ${what}`)
}

before(async () => {
  server = docker('create', '-p', '127.0.0.1::2197', process.env.WIDGETLAB_IMAGE ?? 'widgetlab', 'widgetlab', 'up')
  docker('cp', new URL('widgetlab.yaml', import.meta.url).pathname, `${server}:/cluster/widgetlab.yaml`)
  docker('start', server)
  await until('the push server is ready', () => docker('logs', server).includes('ready'))
  inServer('widgetlab', 'reload', 'CaffeineTracker') // places the widget, which requests a device token
  deviceToken = await until('the widget has a device token',
    () => JSON.parse(inServer('widgetlab', 'token', 'list', '--json')).tokens[0]?.token)

  // What a backend is configured with: authority, key, and the ids of key and team.
  const env = JSON.parse(inServer('widgetlab', 'env', '--json'))
  const base64 = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = base64({ alg: 'ES256', kid: env.keyID }) + '.' +
    base64({ iss: env.teamID, iat: Math.floor(Date.now() / 1000) })
  const key = { key: inServer('cat', env.key), dsaEncoding: 'ieee-p1363' }
  headers = {
    ':method': 'POST',
    authorization: `bearer ${signed}.${sign('sha256', signed, key).toString('base64url')}`,
    'apns-push-type': 'widgets',
    'apns-topic': 'com.example.CaffeineTracker.push-type.widgets',
  }
  const port = docker('port', server, '2197/tcp').split('\n')[0].split(':').pop()
  session = http2.connect(`https://localhost:${port}`, { ca: inServer('cat', env.certificateAuthority) })
})

after(() => {
  session?.close()
  if (server) docker('rm', '-f', server)
})

async function push(token) {
  const stream = session.request({ ...headers, ':path': `/3/device/${token}` })
  stream.end(JSON.stringify({ aps: { 'content-changed': true } }))
  const [status, body] = await Promise.all([
    new Promise((resolve, reject) => stream.on('response', (head) => resolve(head[':status'])).on('error', reject)),
    stream.setEncoding('utf8').toArray(),
  ])
  return { status, reason: body.length ? JSON.parse(body.join('')).reason : undefined }
}

test('a push is accepted', async () => assert.deepEqual(await push(deviceToken), { status: 200, reason: undefined }))

test('an unknown token is refused', async () =>
  assert.deepEqual(await push('00'.repeat(32)), { status: 400, reason: 'BadDeviceToken' }))
