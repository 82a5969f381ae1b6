// SPDX-License-Identifier: Apache-2.0
// The console's server: reads, actions, and the stream of live events.

import { quoted } from './format.js'

/** What `/api/state` returned last. */
export let state = { addresses: [], kinds: [], fields: [], operators: [], journal: { first: 1, last: 0 } }

async function request(path, options) {
  let response
  try {
    response = await fetch(path, options)
  } catch {
    throw { status: 0, what: 'the console does not answer', where: location.origin, advice: 'start it again with `widgetlab console`' }
  }
  if (response.ok) return response.status === 204 ? null : response.json()
  const { error } = await response.json().catch(() => ({}))
  throw { status: response.status, ...error ?? { what: `the console answered with status ${response.status}`, where: path } }
}

/**
 * Reads JSON. Parameters that are null or empty are left out.
 *
 * Throws what happened, `where`, what to do (`advice`), and the `status`, which is 0 when the server did not answer.
 */
export function get(path, parameters = {}) {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value || value === 0))
  return request(query.size ? `${path}?${query}` : path)
}

const post = (path, body) => request(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) })

/** Exchanges the token of the link for a cookie. The token then leaves the address. */
export async function startSession() {
  const token = new URLSearchParams(location.hash.slice(1)).get('token')
  if (!token) return
  history.replaceState(null, '', location.pathname + location.search)
  await post('/api/session', { token })
}

/** Reads the state of the console again. */
export const readState = async () => { state = await get('/api/state') }

/** Performs a command. */
export const perform = args => post('/api/actions', { arguments: args })

/** The command line that does the same as an action or shows the same as a page. */
export const commandLine = (...args) => 'widgetlab ' + args.map(quoted).join(' ') + (state.commandSuffix ?? '')

/**
 * The stream of events of this tab. It sends `rows`, `changed`, `open`, `closed` and `resumed` events.
 *
 * After a break it continues after the last event that was received, so that nothing is lost or repeated. A hidden tab
 * has no stream, because a browser has six connections for all tabs.
 */
class Live extends EventTarget {
  #query = {}
  #last = null
  #source = null
  #pause = 250
  #timer = 0

  constructor() {
    super()
    document.addEventListener('visibilitychange', () => {
      if (document.hidden) return this.#stop()
      if (this.#last !== null && !this.#source) this.#connect()
      this.#send('resumed')
    })
  }

  /** Opens the stream after the number `after`; with `query`, messages are sent too. */
  open(query, after) {
    this.#query = query
    this.#last = after ?? this.#last ?? state.journal.last
    this.#connect()
  }

  #send(type, detail) { this.dispatchEvent(new CustomEvent(type, { detail })) }

  #stop() {
    clearTimeout(this.#timer)
    this.#source?.close()
    this.#source = null
  }

  #connect() {
    this.#stop()
    if (document.hidden) return
    const source = new EventSource(`/api/events?${new URLSearchParams({ ...this.#query, after: this.#last })}`)
    this.#source = source
    source.onopen = () => {
      this.#pause = 250
      this.#send('open')
    }
    for (const type of ['rows', 'changed']) {
      source.addEventListener(type, event => {
        if (event.lastEventId) this.#last = Number(event.lastEventId)
        this.#send(type, JSON.parse(event.data))
      })
    }
    source.onerror = async () => {
      source.close()
      if (this.#source !== source) return
      this.#send('closed', await get('/api/state').then(() => null, error => error))
      if (this.#source !== source) return
      this.#timer = setTimeout(() => this.#connect(), this.#pause)
      this.#pause = Math.min(this.#pause * 1.5, 2000)
    }
  }
}

/** The stream of this tab. */
export const live = new Live()
