// SPDX-License-Identifier: Apache-2.0
// The page "Bus": all messages, live, with a filter; and one message.

import './table.js'
import {quotedValue} from './filter.js'
import {byId, bytes, clock, copyButton, count, duration, empty, equivalent, facts, failed, h, iso, list, Page, pagehead, panel, role, show} from './dom.js'
import {commandLine, get, live, state} from './api.js'

const marks = {launch: '▲', exit: '✕', refused: '⊘'}

export class Bus extends Page {
	topics = []
	where = ''
	sequence = null

	constructor(app) {
		super(app)
		this.onRows = ({detail}) => this.table?.add(detail.rows, detail.last)
		// A hidden tab receives no rows: the newest are read again.
		this.onResumed = () => {if (this.table?.isFollowing) this.#restart()}
		live.addEventListener('rows', this.onRows)
		live.addEventListener('resumed', this.onResumed)
	}

	leave() {
		live.removeEventListener('rows', this.onRows)
		live.removeEventListener('resumed', this.onResumed)
	}

	async enter(url) {
		const where = url.searchParams.get('where') ?? ''
		const sequence = Number(url.pathname.split('/')[2]) || null
		const [isOther, previous] = [where !== this.where, this.sequence]
		Object.assign(this, {where, sequence, title: sequence ? `Message ${sequence} · Bus` : 'Bus'})
		if (this.table && isOther) await this.#restart()
		if (this.table) this.table.selected = sequence
		if (sequence !== previous) {
			this.message = this.error = null
			const {message, error} = sequence ? await get(`/api/messages/${sequence}`).then(message => ({message}), error => ({error})) : {}
			if (sequence !== this.sequence) return
			Object.assign(this, {message, error, movesFocus: true})
		}
	}

	mounted() {
		if (!this.table) this.#setUp()
		if (this.movesFocus) (byId('message') ?? (document.activeElement === document.body ? this.table : null))?.focus({preventScroll: true})
		this.movesFocus = false
	}

	#setUp() {
		this.field = document.querySelector('filter-field')
		this.field.addEventListener('apply', ({detail}) => this.app.go(this.#address(this.sequence, detail)))
		this.table = list()
		this.table.configure({
			label: 'Messages', rowClass: ({mark}) => mark ? `mark-${mark}` : '', isFiltered: () => this.where,
			load: query => get('/api/messages', {...query, where: this.where}),
			columns: [
				{name: 'sequence', label: 'Seq', text: row => String(row.sequence), href: row => this.#address(row.sequence)},
				{name: 'time', label: 'Time', text: row => clock(row.time)},
				{name: 'delta', label: 'Δ', text: (row, previous) => previous ? delta(row.time - previous.time) : ''},
				{name: 'from', label: 'From', text: row => named(row.from, row.fromGeneration), tone: row => role(row.from)},
				{name: 'to', label: 'To', text: row => named(row.to, row.toGeneration), tone: row => role(row.to)},
				{name: 'kind', label: 'Kind', text: row => (row.mark ? `${marks[row.mark]} ` : '') + row.kind, tone: row => `tone-${row.mark}`},
				{name: 'correlation', label: 'Corr', text: row => row.correlation?.slice(0, 6) ?? ''},
				{name: 'note', label: 'Note', text: row => row.note ?? ''},
			],
		})
		this.table.addEventListener('view', () => this.#status())
		this.table.addEventListener('failed', ({detail}) => {
			this.failure = detail
			this.field.failure = detail.status === 400 ? detail : null
			this.#status()
		})
		byId('newer').onclick = () => {
			this.table.toEnd()
			this.table.focus({preventScroll: true})
		}
		this.#restart()
	}

	/** Reads the list for the filter again, at its end or around the open message. */
	async #restart() {
		this.failure = this.field.failure = null
		this.field.value = this.where
		const result = await this.table.restart()
		if (!result) return live.open({})
		live.open({rows: 1, ...this.where ? {where: this.where} : {}}, result.last)
		this.table.selected = this.sequence
		if (this.sequence) this.table.toRow(this.sequence)
	}

	/** After a break. */
	recover() {if (this.failure) this.#restart()}

	close() {if (this.sequence) this.app.go(this.#address(null))}

	#address(sequence, where = this.where) {
		return `/bus${sequence ? `/${sequence}` : ''}${where ? `?where=${encodeURIComponent(where)}` : ''}`
	}

	/** The parts that are updated with each row. */
	#status() {
		const {table, failure, where} = this
		const pill = byId('bus-state')
		if (!pill) return
		const [first, last] = table.visible
		const tone = failure ? 'bad' : state.isReadOnly ? '' : table.isFollowing ? 'good' : 'warn'
		pill.className = `pill ${tone}`
		put(pill, {bad: 'Error', good: 'Live', warn: 'Paused', '': 'Journal'}[tone])
		put(byId('bus-range'), (first ? `${count(first.sequence)} – ${count(last.sequence)} of ${count(table.last)}` : '')
			+ (where && table.isLoading && table.rows.length < 100 ? `, searching back from ${count(table.from)} …` : ''))
		byId('newer').hidden = table.isFollowing
		put(byId('newer'), table.newer ? `↓ ${count(table.newer)} new` : '↓ To the newest')
		byId('bus-empty').hidden = table.rows.length || table.isLoading
		if (!byId('bus-empty').hidden) {
			show(byId('bus-empty'), failure ? failed(failure) : where ? empty('No message matches the filter. New ones appear here.') : empty('The journal has no message.', 'widgetlab up'))
		}
	}

	view() {
		return [
			pagehead('Bus', h('span.pill', {id: 'bus-state', 'data-own': ''}), h('span.dim', {id: 'bus-range', 'data-own': ''}),
				equivalent(commandLine('tail', ...this.where ? ['--where', this.where] : []))),
			h('filter-field', {'data-own': ''}),
			h(`div.split${this.sequence ? '.has-detail' : ''}`,
				h('div.list', h('windowed-table.bus', {'data-own': ''}), h('div', {id: 'bus-empty', hidden: true, 'data-own': ''}),
					h('button.newer', {id: 'newer', hidden: true, 'data-own': ''})),
				this.sequence && panel('message', `Message ${count(this.sequence)}`, () => this.close(), failed(this.error), this.message && this.#message(this.message))),
		]
	}

	#message({row, id, causeRow, effects = [], correlation, trace, size, body, bodyText}) {
		const filter = (name, text, value = text) => h('a', {href: this.#address(null, `${name} == ${quotedValue(value)}`)}, text)
		const party = (name, generation) => [h(`span.${role(name)}`, filter('address', name, name.replace('/…', '/*'))), generation ? ` generation ${generation}` : '']
		const reference = other => [h('a', {href: this.#address(other.sequence)}, `#${other.sequence}`), ' ', h('code', other.kind), ` ${other.note ?? ''}`]
		const text = bodyText ?? JSON.stringify(body, null, 2) ?? ''
		return [
			facts([
				['Kind', filter('kind', row.kind), row.mark && ` ${marks[row.mark]} ${row.mark}`], ['From', party(row.from, row.fromGeneration)], ['To', party(row.to, row.toGeneration)],
				['Sent', h('time', {datetime: iso(row.time), title: iso(row.time)}, clock(row.time)), row.attempt ? `, attempt ${row.attempt + 1}` : ''],
				['Note', row.note], ['Correlation', correlation && filter('correlation', correlation, correlation.replaceAll('-', ''))],
				['Trace', trace && h('a', {href: `/traces/${trace}`}, 'all steps of this operation')], ['Cause', causeRow && reference(causeRow)],
				['Effects', effects.length && h('ul', effects.slice(0, 50).map(effect => h('li', reference(effect))))], ['Id', h('code', id)], ['Size', bytes(size)],
			]),
			h('div.headline', h('h3', 'Body'), text && copyButton(text, 'Copy body', {})),
			text ? h('pre.body', {tabindex: '0', 'aria-label': 'Body of the message'}, text.slice(0, 1e5), text.length > 1e5 && ' … (the button copies all)') : h('p.dim', 'This message has no body.'),
			equivalent(commandLine('tail', '--where', `sequence == ${row.sequence}`, '--output', 'json')),
		]
	}
}

const put = (target, text) => {if (target.textContent !== text) target.textContent = text}

const named = (name, generation) => generation ? `${name} ${generation}` : name

const delta = seconds => (seconds < 0 ? '−' : '+') + (Math.abs(seconds) < 10 ? Math.abs(seconds).toFixed(3) : duration(Math.abs(seconds)))
