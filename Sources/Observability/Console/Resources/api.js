// SPDX-License-Identifier: Apache-2.0
// The console's server: reads, the stream of live events, and buttons and forms that perform commands. The line at the
// bottom shows the command of the button with the focus, and its result.

import {announce, byId, copyButton, h, kbd, quoted, show} from './dom.js'

/** What `/api/state` returned last. */
export let state = {addresses: [], kinds: [], fields: [], operators: [], journal: {first: 1, last: 0}}

async function request(path, options) {
	let response
	try {
		response = await fetch(path, options)
	} catch {
		throw {status: 0, what: 'the console does not answer', where: location.origin, advice: 'start it again with `widgetlab console`'}
	}
	if (response.ok) return response.status === 204 ? null : response.json()
	const {error} = await response.json().catch(() => ({}))
	throw {status: response.status, ...error ?? {what: `the console answered with status ${response.status}`, where: path}}
}

/** Reads JSON. Throws `what` happened, `where`, `advice` and the `status`, 0 when the server did not answer. */
export function get(path, parameters = {}) {
	const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value || value === 0))
	return request(query.size ? `${path}?${query}` : path)
}

const post = (path, body) => request(path, {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(body)})

/** Exchanges the token of the link for a cookie. The token then leaves the address. */
export async function startSession() {
	const token = new URLSearchParams(location.hash.slice(1)).get('token')
	if (!token) return
	history.replaceState(null, '', location.pathname + location.search)
	await post('/api/session', {token})
}

/** Reads the state. When the instance was removed and made again, the page begins again. */
export async function readState() {
	const {generation} = state.journal
	state = await get('/api/state')
	if (state.journal.generation > generation) location.reload()
}

export const commandLine = (...args) => 'widgetlab ' + args.map(quoted).join(' ') + (state.commandSuffix ?? '')

/**
 * The stream of events of this tab. After a break it continues after the last event that was received. A hidden tab has
 * none, because a browser has six connections for all tabs.
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

	#send(type, detail) {this.dispatchEvent(new CustomEvent(type, {detail}))}

	#stop() {
		clearTimeout(this.#timer)
		this.#source?.close()
		this.#source = null
	}

	#connect() {
		this.#stop()
		if (document.hidden) return
		const source = new EventSource(`/api/events?${new URLSearchParams({...this.#query, after: this.#last})}`)
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
			this.#send('closed', await readState().then(() => null, error => error))
			if (this.#source !== source) return
			this.#timer = setTimeout(() => this.#connect(), this.#pause)
			this.#pause = Math.min(this.#pause * 1.5, 2000)
		}
	}
}

export const live = new Live()

/** A button for a command; none in a read-only console. `hotkey` presses it while its row has the focus. */
export function action(label, args, {confirm, hotkey, kind = '', name} = {}) {
	return state.isReadOnly ? null : h(`button.action.${kind}`, {
		'data-key': args.slice(0, 3) + label, 'data-args': JSON.stringify(args), 'data-confirm': confirm, 'data-hotkey': hotkey,
		'aria-keyshortcuts': hotkey, title: commandLine(...args) + (hotkey ? ` (key ${hotkey})` : ''), 'aria-label': name && `${label} ${name}`,
	}, label)
}

/** A form. `build` makes the arguments from the values of the fields, or null while they are incomplete. */
export function actionForm(key, label, name, fields, build, kind = '') {
	if (state.isReadOnly) return null
	const button = h(`button.action.${kind}`, label)
	const form = h('form.form', {'data-own': '', 'data-key': key + JSON.stringify(fields), 'aria-label': name},
		fields.map(field => input(key, field)), button)
	const update = () => {
		const args = build(Object.fromEntries(new FormData(form)))
		delete button.dataset.args
		if (args) button.dataset.args = JSON.stringify(args)
		button.title = args ? commandLine(...args) : ''
		button.setAttribute('aria-disabled', String(!args))
		return args
	}
	button.type = 'submit'
	form.oninput = () => offer(update())
	form.onsubmit = event => event.preventDefault()
	update()
	return form
}

function input(key, {name, label, options, ...attributes}) {
	const common = {id: `${key}-${name}`, name, ...attributes}
	return h('label', {for: common.id}, h('span', label), options
		? h('select', common, options.map(item => h('option', {value: [item].flat()[0]}, [item].flat().at(-1)))) : h('input', {autocomplete: 'off', spellcheck: 'false', ...common}))
}

let line = null
let result = null

export const offered = () => line

export const drawLine = () => show(byId('command'), line
	? [h('span.dim', {'aria-hidden': 'true'}, '$'), h('code', line), copyButton(line, 'Copy', {'aria-label': 'Copy the command', title: 'Key c'}),
		result && h(`span.result.${result.kind}`, result.text)]
	: h('span.dim', state.isReadOnly ? 'Read-only: this console has no actions.'
		: ['Each button shows its command here; ', kbd('c'), ' copies it.']))

function offer(args) {
	if (!args || line === commandLine(...args)) return
	line = commandLine(...args)
	result = null
	drawLine()
}

async function run(args) {
	const shown = commandLine(...args)
	line = shown
	result = {kind: 'busy', text: 'running…'}
	drawLine()
	let done
	try {
		const {exit, output, errors, milliseconds} = await post('/api/actions', {arguments: args})
		const text = (exit && errors.length ? errors : output).join(' · ') || 'done'
		done = exit ? {kind: 'bad', text: `✕ exit code ${exit}: ${text}`} : {kind: 'good', text: `✓ ${text} (${Math.round(milliseconds)} ms)`}
	} catch (error) {
		done = {kind: 'bad', text: `✕ ${error.what ?? error.message}. ${error.advice ?? ''}`}
	}
	announce(done.text)
	document.dispatchEvent(new CustomEvent('performed'))
	if (line !== shown) return
	result = done
	drawLine()
}

function restore(button) {
	if (button?.dataset.armed === undefined) return false
	button.textContent = button.dataset.armed
	delete button.dataset.armed
	return true
}

export const toolbar = (label, ...content) => state.isReadOnly ? null : h('div.toolbar', {role: 'group', 'aria-label': label}, content)

/** Presses a button. One with a confirmation asks for a second press. */
export function press(button) {
	const {args, confirm, armed, hotkey} = button.dataset
	if (!args) return
	offer(JSON.parse(args))
	if (confirm && armed === undefined) {
		button.dataset.armed = button.textContent
		button.textContent = confirm
		button.focus()
		return announce(`${confirm} Press ${hotkey ? `${hotkey} or ` : ''}Enter again, or Escape.`)
	}
	restore(button)
	run(JSON.parse(args))
}

const on = (type, listener) => document.addEventListener(type, event => {
	const button = event.target.closest?.('[data-args]')
	if (button) listener(button, event)
})
let pressedAt = null
const place = ({clientX, clientY}) => `${clientX} ${clientY}`
on('click', (button, event) => {
	pressedAt = place(event)
	press(button)
})
on('focusin', button => offer(JSON.parse(button.dataset.args)))
// A button that appears below a pointer at rest does not replace the result.
on('pointerover', (button, event) => place(event) !== pressedAt && offer(JSON.parse(button.dataset.args)))
on('focusout', restore)
on('keydown', (button, event) => {
	if (event.key === 'Escape' && restore(button)) event.stopPropagation()
})
