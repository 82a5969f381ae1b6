// SPDX-License-Identifier: Apache-2.0
// The console's server: reads, actions, and the stream of live events.

import { quoted } from './format.js'

/** What `/api/state` returned last. */
export let state = {
  isReadOnly: false, commandSuffix: '', isBusConnected: true, addresses: [], kinds: [], fields: [], operators: [],
  journal: { first: 1, last: 0 },
}

/** An error with what happened, where, and what to do. `status` is 0 when the server did not answer. */
export class Failure extends Error {
  constructor(status, { what, where, advice, place } = {}) {
    super(what)
    Object.assign(this, { status, what, where, advice, place })
  }
}

async function request(path, options) {
  let response
  try {
    response = await fetch(path, options)
  } catch (error) {
    if (error.name === 'AbortError') throw error
    throw new Failure(0, { what: 'the console does not answer', where: location.origin,
      advice: 'start it again with `widgetlab console`' })
  }
  if (response.ok) return response.status === 204 ? null : response.json()
  const { error } = await response.json().catch(() => ({}))
  throw new Failure(response.status, error ?? { what: `the console answered with status ${response.status}`, where: path })
}

/** Reads JSON. Parameters that are null or empty are left out. */
export function get(path, parameters, signal) {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters ?? {})) {
    if (value !== null && value !== undefined && value !== '') query.set(name, value)
  }
  return request(query.size ? `${path}?${query}` : path, { signal })
}

function post(path, body) {
  return request(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) })
}

/** Exchanges the token of the link for a cookie. The token then leaves the address. */
export async function startSession() {
  const token = new URLSearchParams(location.hash.slice(1)).get('token')
  if (!token) return
  history.replaceState(null, '', location.pathname + location.search)
  await post('/api/session', { token })
}

/** Reads the state of the console again. */
export async function readState() {
  state = await get('/api/state')
  return state
}

/** Performs a command. */
export const perform = args => post('/api/actions', { arguments: args })

/** The command line that does the same as an action or shows the same as a page. */
export const commandLine = args => 'widgetlab ' + args.map(quoted).join(' ') + (state.commandSuffix ?? '')

/**
 * The stream of events of this tab. It sends `rows`, `changed`, `open` and `closed` events.
 *
 * After a break it continues after the last event that was received, so that nothing is lost or repeated. A hidden tab
 * has no stream, because a browser has six connections for all tabs.
 */
class Live extends EventTarget {
  isOpen = false
  #parameters = {}
  #last = null
  #source = null
  #pause = 250
  #timer = 0

  constructor() {
    super()
    document.addEventListener('visibilitychange', () => {
      if (document.hidden) return this.#stop()
      if (this.#source || this.#last === null) return
      this.#send('resumed')
      this.#connect()
    })
  }

  /** Opens the stream; with `rows`, messages that match `where` are sent too. It starts after the number `after`. */
  open({ rows, where, after }) {
    this.#parameters = rows ? { rows: 1, where } : {}
    this.#last = after ?? this.#last ?? state.journal.last
    this.#connect()
  }

  #send(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }))
  }

  #stop() {
    clearTimeout(this.#timer)
    this.#source?.close()
    this.#source = null
  }

  #connect() {
    this.#stop()
    if (document.hidden) return
    const query = new URLSearchParams({ ...this.#parameters, after: this.#last })
    if (!this.#parameters.where) query.delete('where')
    const source = new EventSource(`/api/events?${query}`)
    this.#source = source
    source.onopen = () => {
      this.#pause = 250
      this.isOpen = true
      this.#send('open')
    }
    for (const type of ['rows', 'changed']) {
      source.addEventListener(type, event => {
        if (event.lastEventId) this.#last = Number(event.lastEventId)
        this.#send(type, JSON.parse(event.data))
      })
    }
    source.onerror = () => {
      source.close()
      if (this.#source === source) this.#retry()
    }
  }

  async #retry() {
    this.isOpen = false
    let failure = null
    try {
      await get('/api/state')
    } catch (error) {
      failure = error
    }
    this.#send('closed', failure)
    this.#timer = setTimeout(() => this.#connect(), this.#pause)
    this.#pause = Math.min(this.#pause * 1.5, 2000)
  }
}

/** The stream of this tab. */
export const live = new Live()
