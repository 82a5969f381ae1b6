// SPDX-License-Identifier: Apache-2.0
// The page "Processes".

import {age, bytes, choices, decimal, empty, grid, h, moment, Page, pagehead, pill, role, room, section} from './dom.js'
import {action, get, state} from './api.js'
import {generations} from './plot.js'

/** Each column with the value by which it is sorted. */
const columns = {
	Process: item => item.name, State: item => item.state, 'Gen#': item => item.generation ?? 0, 'PID#': item => item.pid ?? 0, 'For#': item => -(item.since ?? Infinity),
	'Memory#': item => item.memory ?? 0, 'CPU#': item => item.cpuShare ?? 0, 'Why it is in this state': item => item.why ?? '', 'How the last run ended': item => item.lastEnding ?? '',
}

export class Processes extends Page {
	topics = ['processes', 'history']
	// Memory and processor time change without a message.
	ticks = ['processes']

	async enter(url) {
		this.range = url.searchParams.get('range') ?? ''
		if (!this.report) await this.refresh(new Set(this.topics))
	}

	async refresh(topics) {
		const history = topics.has('history') && get('/api/history')
		if (topics.has('processes')) {
			this.report = await get('/api/processes')
			this.readAt = Date.now() / 1000
			// The row of a process that died is shown at once; its lane may be later.
			if (this.isLoaded) this.app.render()
		}
		if (history) this.history = await history
	}

	view() {
		const processes = [...this.report.processes]
		if (this.sorting) {
			const value = columns[this.sorting]
			processes.sort((a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0) * (this.isDescending ? -1 : 1))
		}
		return [
			pagehead('Processes', h('span.dim', `${processes.filter(item => item.state === 'running').length} of ${processes.length} running`)),
			processes.length ? grid('Processes', [...Object.keys(columns).map(name => this.#heading(name)), !state.isReadOnly && 'Actions'], processes.map(item => this.#row(item)))
				: empty('No process is known: the cluster is not running.', 'widgetlab up'),
			this.history && section('history', 'Generations', choices('Time range', [['60', '1 min'], ['600', '10 min'], ['3600', '1 h'], ['', 'all']].map(([value, text]) =>
				[value, text, value ? `/processes?range=${value}` : '/processes']), this.range), this.#lanes()),
		]
	}

	#heading(name) {
		const isSorted = this.sorting === name
		return h('th', {scope: 'col', class: name.endsWith('#') && 'number', 'aria-sort': isSorted && (this.isDescending ? 'descending' : 'ascending')},
			h('button.sort', {onclick: () => {
				this.isDescending = isSorted ? !this.isDescending : name.endsWith('#')
				this.sorting = name
				this.app.render()
			}}, name.replace('#', ''), isSorted && h('span', {'aria-hidden': 'true'}, this.isDescending ? ' ↓' : ' ↑')))
	}

	#row({address, name, state: status, generation, pid, since, memory, memoryLimit, cpu, cpuShare, why, lastEnding, argument}) {
		const isStopped = status === 'suspended' || status === 'stopped'
		return {key: address, class: `process-${status}`, cells: [
			h(`a.${role(name)}`, {href: `/bus?where=${encodeURIComponent(`address == ${name}`)}`}, name),
			pill(status, {running: 'good', suspended: 'warn', stopped: 'bad', down: 'bad'}[status]), String(generation || '–'), String(pid ?? '–'),
			since && pid ? h('span', {title: moment(since)}, age(Date.now() / 1000 - this.readAt + this.report.time - since)) : '–',
			[memory ? bytes(memory) : '–', memoryLimit && h(`span.${memory > memoryLimit * 0.8 ? 'bad' : 'dim'}`, ` of ${bytes(memoryLimit)}`)],
			[typeof cpuShare === 'number' ? `${decimal(cpuShare * 100)} %` : '–', cpu ? h('span.dim', ` ${decimal(cpu)} s`) : null],
			why ?? '', h(`span.${lastEnding && !/SIGTERM|code 0/.test(lastEnding) ? 'bad' : ''}`, lastEnding ?? '–'),
			!state.isReadOnly && h('span.actions', pid && [
				action('Kill', ['kill', argument], {hotkey: 'x', confirm: 'Send SIGKILL?', kind: 'danger', name}),
				action(isStopped ? 'Continue' : 'Stop', [isStopped ? 'resume' : 'suspend', argument], {hotkey: 'z', name})]),
		]}
	}

	#lanes() {
		const {from, to, lanes} = this.history
		const start = this.range ? Math.max(from, to - Number(this.range)) : from
		const history = {from: start, to: Math.max(to, start + 1), lanes: lanes.map(lane => ({...lane, runs: lane.runs.filter(({end}) => !end || end >= start)}))}
		return lanes.length ? [
			h('div.drawing', generations(history, room(), sequence => this.app.go(`/bus/${sequence ?? ''}`))),
			h('p.legend', ['running', 'suspended', 'stopped'].map(name => h('span', h(`i.swatch.state-${name}`), name)), h('span', h('i.swatch.failed'), 'end of a generation, ✕ if it failed')),
		] : empty('No process has run yet.', 'widgetlab up')
	}
}
