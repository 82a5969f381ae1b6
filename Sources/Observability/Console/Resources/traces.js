// SPDX-License-Identifier: Apache-2.0
// The page "Traces": downloads and pushes, and all steps of one in lanes.

import './table.js'
import {byId, choices, copyButton, count, duration, empty, equivalent, failed, grid, h, list, moment, Page, pagehead, pill, plural, role, s} from './dom.js'
import {commandLine, get} from './api.js'

/** A pause that is longer, in seconds, is one line that says how long. */
const longPause = 1

export class Traces extends Page {
	topics = ['traces']

	async enter(url) {
		this.id = decodeURIComponent(url.pathname.split('/')[2] ?? '')
		this.type = url.searchParams.get('type') ?? ''
		this.trace = this.error = null
		await this.refresh()
		this.title = this.trace ? `${this.trace.title} · Traces` : 'Traces'
	}

	async refresh() {
		const {id} = this
		if (!id) {
			this.traces = (await get('/api/traces', {limit: 200})).traces
			return
		}
		const trace = await get(`/api/traces/${encodeURIComponent(id)}`).catch(error => {this.error = error})
		if (trace && id === this.id) this.trace = {...trace, lanes: trace.lanes.filter(lane => lane !== 'journal')}
	}

	close() {if (this.id) this.app.go('/traces')}

	view() {return this.id ? this.#one() : this.#all()}

	#all() {
		const shown = this.traces.filter(({type}) => !this.type || type === this.type)
		return [
			pagehead('Traces', h('span.dim', plural(shown.length, 'operation')),
				choices('Kind', [['', 'all', '/traces'], ['session', 'downloads and uploads', '/traces?type=session'], ['push', 'pushes', '/traces?type=push']], this.type)),
			shown.length ? grid('Traces', ['Operation', 'Kind', 'State', 'Started', 'Took#', 'Steps#', 'Generations', 'Exits#', 'Owner'], shown.map(trace => ({key: trace.id, cells: [
				h('a', {href: `/traces/${encodeURIComponent(trace.id)}`}, trace.title), trace.type, pill(trace.state, tone(trace.state)), moment(trace.start),
				trace.end ? duration(trace.end - trace.start) : 'runs', count(trace.steps), [...new Set([trace.generations[0] ?? '–', trace.generations.at(-1) ?? '–'])].join('–'),
				h(`span.${trace.exits ? 'bad' : ''}`, String(trace.exits)), h(`span.${role(trace.owner)}`, trace.owner)]})))
				: empty('No such operation is in the journal. A reload starts a download; a push reloads widgets.', commandLine('reload', '--all')),
		]
	}

	#one() {
		const {trace} = this
		const back = h('a', {href: '/traces'}, '← All traces')
		if (!trace) return [pagehead('Trace', back), failed(this.error)]
		return [
			pagehead(trace.title, pill(trace.state, tone(trace.state)), back,
				equivalent(trace.command, copyButton(trace.mermaid, 'Copy as Mermaid', {'data-mermaid': '', title: 'Key m'}))),
			h('ul.summary.dim', trace.summary.map(text => h('li', text))),
			h('windowed-table.trace', {'data-own': '', 'data-key': `${trace.id} ${trace.lanes}`}),
		]
	}

	mounted() {
		const table = list()
		const {trace} = this
		if (!table || !trace || table.trace === trace) return
		if (!table.trace) {
			const width = Math.round(Math.max(64, Math.min(112, (byId('main').clientWidth - 760) / trace.lanes.length)))
			table.style.setProperty('--lanes', `${width * trace.lanes.length}px`)
			table.configure({label: `Steps of ${trace.title}`, columns: columns(trace.lanes, width), rowClass: row => row.gap ? 'gap' : row.mark ? `mark-${row.mark}` : ''})
		}
		table.trace = trace
		table.setRows(withGaps(trace))
	}
}

const tone = state => /acknowledged|delivered|reloaded/.test(state) ? 'good' : /fail|refused|expired|cancel|dropped|discarded/.test(state) ? 'bad' : 'warn'

/** The lane of the process that a step is about. */
function subject(step, lanes) {
	const named = lanes.findIndex(lane => lane === step.subject || (!step.subject && step.note?.startsWith(lane)))
	return named < 0 ? lanes.indexOf(step.from) : named
}

/** The steps with lines for pauses, and for each which lanes have a running process before and after it. */
function withGaps({steps, lanes}) {
	const rows = []
	// A lane that sends something or ends before its first launch was running before the trace.
	let alive = lanes.map((name, lane) => steps.find(step => step.mark ? subject(step, lanes) === lane : step.from === name)?.mark !== 'launch')
	let time = 0
	for (const step of steps) {
		if (step.time - time > longPause) rows.push({sequence: step.sequence - 0.5, gap: step.time - time, before: alive, alive})
		time = step.time
		const before = alive
		if (step.mark === 'launch' || step.mark === 'exit') alive = alive.with(subject(step, lanes), step.mark === 'launch')
		rows.push({...step, before, alive})
	}
	return rows
}

const columns = (lanes, width) => [
	{name: 'sequence', label: 'Seq', text: row => row.gap ? '⋮' : String(row.sequence), href: row => `/bus/${Math.ceil(row.sequence)}`},
	{name: 'clock', label: 'Time', text: row => row.gap ? '' : row.time.toFixed(3)},
	{name: 'waited', label: 'Waited', text: row => row.waited ? duration(row.waited) + (row.after ? ` after #${row.after}` : '') : ''},
	{name: 'lanes', head: h('span.lanenames', lanes.map(lane => h(`span.${role(lane)}`, {title: lane}, lane))), draw: (cell, row) => cell.replaceChildren(drawStep(row, lanes, width),
		h('span.unseen', row.gap ? 'pause' : `${row.mark ? `${row.mark}: ` : ''}${row.from} ${row.fromGeneration || ''} to ${row.to} ${row.toGeneration || ''}`))},
	{name: 'kind', label: 'Kind', text: row => row.gap ? `${duration(row.gap)} without a step` : row.kind, tone: row => `tone-${row.mark}`},
	{name: 'note', label: 'Note', text: row => (row.note ?? '') + (row.attempt ? ` (attempt ${row.attempt + 1})` : '')},
]

function drawStep(row, lanes, width) {
	const x = lane => (lane + 0.5) * width
	const line = (lane, from, to, name) => s(`line.life.${name}`, {x1: x(lane), x2: x(lane), y1: from, y2: to})
	return s('svg.lane', {width: width * lanes.length, height: 24, 'aria-hidden': 'true'}, lanes.map((lane, index) => {
		const [before, after] = [row.before, row.alive].map(alive => alive[index] ? role(lane) : 'gone')
		return row.gap ? [line(index, 0, 7, before), line(index, 8, 17, 'gone'), line(index, 17, 24, after)] : [line(index, 0, 12, before), line(index, 12, 24, after)]
	}), !row.gap && drawArrow(row, lanes, x))
}

function drawArrow(row, lanes, x) {
	const [from, to] = [lanes.indexOf(row.from), lanes.indexOf(row.to)]
	const about = x(subject(row, lanes))
	if (row.mark === 'exit') return s('path.tone-exit.cross', {d: `M${about - 5} 7l10 10m0 -10l-10 10`})
	if (row.mark === 'launch') return s('g.tone-launch', s('path', {d: `M${about} 6l6 11h-12z`}), s('text', {x: about + 9, y: 16}, /generation (\d+)/.exec(row.note)?.[1] ?? ''))
	if (from < 0 || to < 0 || from === to) return s(`circle.${role(row.from)}`, {cx: x(Math.max(0, from, to)), cy: 12, r: 4})
	const way = to > from ? 1 : -1
	const tip = x(to) - way * 3
	return s(`g.arrow.${role(row.from)}${/\/(ok|ack|failed)$/.test(row.kind) ? '.reply' : ''}${row.mark ? '.tone-refused' : ''}`,
		s('circle', {cx: x(from), cy: 12, r: 3}), s('line', {x1: x(from) + way * 3, x2: tip, y1: 12, y2: 12}), s('path', {d: `M${tip - way * 7} 8l${way * 7} 4l${-way * 7} 4z`}))
}
