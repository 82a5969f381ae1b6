// SPDX-License-Identifier: Apache-2.0
// The page "Processes": what runs and why, how each last run ended, and the history of generations.

import { empty, grid, h, kbd, section } from './dom.js'
import { get, state } from './api.js'
import { action } from './actions.js'
import { age, bytes, decimal, moment, role } from './format.js'
import { generations, generationsTable } from './plot.js'

const columns = [
  { name: 'name', label: 'Process', value: item => item.name },
  { name: 'state', label: 'State', value: item => item.state },
  { name: 'generation', label: 'Gen', value: item => item.generation ?? 0, isNumber: true },
  { name: 'pid', label: 'PID', value: item => item.pid ?? 0, isNumber: true },
  { name: 'since', label: 'For', value: item => -(item.since ?? Infinity), isNumber: true },
  { name: 'memory', label: 'Memory', value: item => item.memory ?? 0, isNumber: true },
  { name: 'cpu', label: 'CPU', value: item => item.cpuShare ?? 0, isNumber: true },
  { name: 'why', label: 'Why it is in this state', value: item => item.why ?? '' },
  { name: 'ending', label: 'How the last run ended', value: item => item.lastEnding ?? '' },
]

const ranges = [['60', '1 min'], ['600', '10 min'], ['3600', '1 h'], ['', 'all']]

export class Processes {
  topics = ['processes', 'history']
  ticks = true
  sort = null
  isDescending = false

  constructor(app) { this.app = app }

  async enter(url) {
    this.range = url.searchParams.get('range') ?? ''
    if (!this.report) await this.refresh(new Set(this.topics))
  }

  async refresh(topics) {
    const history = topics.has('history') ? get('/api/history') : null
    if (topics.has('processes')) {
      this.report = await get('/api/processes')
      this.readAt = Date.now() / 1000
      // The row of a process that died is shown at once; its lane may be later.
      if (this.isLoaded) this.app.render()
    }
    if (history) this.history = await history
  }

  view() {
    const { report } = this
    const processes = [...report.processes]
    if (this.sort) {
      const { value } = columns.find(column => column.name === this.sort)
      const order = (a, b) => value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0
      processes.sort((a, b) => this.isDescending ? order(b, a) : order(a, b))
    }
    return [
      h('div.pagehead', h('h1', 'Processes'), h('span.range', this.#summary(processes)),
        !state.isReadOnly && h('span.hints', kbd('x'), ' kill ', kbd('z'), ' stop or continue')),
      processes.length ? this.#table(processes)
        : empty('No process is known: the cluster is not running.', 'widgetlab up'),
      this.history && section('history', 'Generations', h('div.choices', { role: 'group', 'aria-label': 'Time range' },
        ranges.map(([value, label]) => h('a', { href: value ? `/processes?range=${value}` : '/processes', 'aria-current': value === this.range && 'true' }, label))),
      this.#lanes()),
    ]
  }

  #summary(processes) {
    const running = processes.filter(item => item.state === 'running').length
    const ended = processes.filter(item => item.lastEnding).length
    return `${running} of ${processes.length} running${ended ? `, ${ended} ended before` : ''}`
  }

  #table(processes) {
    const heading = column => {
      const isSorted = this.sort === column.name
      return h('th', { scope: 'col', class: column.isNumber ? 'number' : '', 'aria-sort': isSorted && (this.isDescending ? 'descending' : 'ascending') },
        h('button', { class: 'sort', onclick: () => this.#sortBy(column.name) }, column.label, h('span', { 'aria-hidden': 'true' }, isSorted ? this.isDescending ? ' ↓' : ' ↑' : '')))
    }
    return grid('Processes', [...columns.map(heading), !state.isReadOnly && 'Actions'], processes.map(item => this.#row(item)))
  }

  #sortBy(name) {
    if (this.sort !== name) {
      this.sort = name
      this.isDescending = columns.find(column => column.name === name).isNumber ?? false
    } else {
      this.isDescending = !this.isDescending
    }
    this.app.render()
  }

  #row(item) {
    const hasProcess = Boolean(item.pid)
    const since = item.since ? Date.now() / 1000 - this.readAt + this.report.time - item.since : null
    const share = item.memoryLimit ? Math.min(1, (item.memory ?? 0) / item.memoryLimit) : 0
    return h('tr', { 'data-key': item.address, 'data-scope': item.address, class: `process-${item.state}` },
      h('th', { scope: 'row' }, h('a', { 'data-row': '', class: role(item.name), href: `/bus?where=${encodeURIComponent(`address == ${item.name}`)}`,
        title: `Messages of ${item.name}` }, item.name)),
      h('td', h('span', { class: `state state-${item.state}` }, item.state)),
      h('td.number', item.generation ? String(item.generation) : '–'),
      h('td.number', item.pid ? String(item.pid) : '–'),
      h('td.number', since === null ? '–' : h('span', { title: moment(item.since) }, age(since))),
      h('td.number.memory', item.memory ? bytes(item.memory) : '–', item.memoryLimit ? h('span.dim', ` of ${bytes(item.memoryLimit)}`) : null,
        item.memoryLimit && item.memory ? h('span', { class: share > 0.8 ? 'meter high' : 'meter', 'aria-hidden': 'true', style: { '--share': String(share) } }) : null),
      h('td.number', item.cpuShare === undefined || item.cpuShare === null ? '–' : `${decimal(item.cpuShare * 100)} %`,
        item.cpu ? h('span.dim', ` ${decimal(item.cpu)} s`) : null),
      h('td', item.why ?? ''),
      h('td', { class: item.lastEnding && !/exit code 0|SIGTERM|code 0/.test(item.lastEnding) ? 'bad' : '' }, item.lastEnding ?? '–'),
      !state.isReadOnly && h('td.actions', hasProcess && [
        action('Kill', ['kill', item.argument], { hotkey: 'x', confirm: 'Send SIGKILL?', kind: 'danger', name: item.name }),
        item.state === 'suspended' || item.state === 'stopped'
          ? action('Continue', ['resume', item.argument], { hotkey: 'z', name: item.name })
          : action('Stop', ['suspend', item.argument], { hotkey: 'z', name: item.name }),
      ]))
  }

  #lanes() {
    const history = { ...this.history }
    if (this.range) history.from = Math.max(history.from, history.to - Number(this.range))
    history.lanes = history.lanes.map(lane => ({ ...lane, runs: lane.runs.filter(run => (run.end ?? Infinity) >= history.from) }))
    if (!history.lanes.some(lane => lane.runs.length)) return empty('No process has run yet.', 'widgetlab up')
    const width = Math.max(300, document.getElementById('main').clientWidth - 56)
    return [
      h('div.drawing', generations(history, width)),
      h('p.legend', ['running', 'suspended', 'stopped'].map(name => [h('span', { class: `swatch state-${name}` }), `${name} `]), h('span.swatch.ending'), 'end of a generation, ✕ if it failed'),
      h('details', h('summary', 'As a table'), generationsTable(history)),
    ]
  }
}
