// SPDX-License-Identifier: Apache-2.0
// The page "Traces": downloads and pushes, and all steps of one over all generations, in lanes.

import './table.js'
import { copyButton, empty, equivalent, grid, h, s } from './dom.js'
import { commandLine, get } from './api.js'
import { count, duration, moment, plural, role } from './format.js'

/** A pause that is longer gets a line that says how long. */
const longPause = 1

export class Traces {
  topics = ['traces']
  id = null
  filter = ''

  constructor(app) { this.app = app }

  async enter(url) {
    this.id = decodeURIComponent(url.pathname.split('/')[2] ?? '') || null
    this.filter = url.searchParams.get('filter') ?? ''
    this.trace = null
    this.failed = null
    await this.refresh()
    this.title = this.trace ? `${this.trace.title} · Traces` : 'Traces'
  }

  async refresh() {
    const { id } = this
    if (!id) {
      const { traces } = await get('/api/traces', { limit: 200 })
      this.traces = traces
      return
    }
    try {
      const trace = await get(`/api/traces/${encodeURIComponent(id)}`)
      if (id !== this.id) return
      this.trace = trace
    } catch (error) {
      if (error.status !== 404) throw error
      this.failed = error
    }
  }

  close() {
    if (this.id) this.app.go('/traces')
  }

  move(step) {
    const table = document.querySelector('windowed-table.trace')
    if (table) return table.move(step)
    const rows = [...document.querySelectorAll('#main [data-row]')]
    const current = rows.indexOf(document.activeElement)
    rows[current < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, current + step))]?.focus()
  }

  view() { return this.id ? this.#one() : this.#all() }

  // All traces

  #all() {
    const words = this.filter.toLowerCase().split(/\s+/).filter(Boolean)
    const shown = this.traces.filter(trace => {
      const text = `${trace.type} ${trace.title} ${trace.owner} ${trace.state}`.toLowerCase()
      return words.every(word => text.includes(word))
    })
    return [
      h('div.pagehead', h('h1', 'Traces'), h('span.range', shown.length === this.traces.length ? plural(shown.length, 'trace') : `${shown.length} of ${plural(this.traces.length, 'trace')}`),
        h('label.search', h('span', 'Filter'), h('input', {
          type: 'search', 'data-filter': '', placeholder: 'push, a title, a state', value: this.filter, 'data-live': '',
          oninput: event => {
            this.filter = event.target.value
            history.replaceState(null, '', this.filter ? `/traces?filter=${encodeURIComponent(this.filter)}` : '/traces')
            this.app.render()
          },
        }))),
      shown.length ? grid('Traces', ['Operation', 'Kind', 'State', 'Started', 'Took#', 'Steps#', 'Generations', 'Exits#', 'Owner'],
        shown.map(trace => h('tr', { 'data-key': trace.id, 'data-scope': trace.id },
          h('th', { scope: 'row' }, h('a', { 'data-row': '', href: `/traces/${encodeURIComponent(trace.id)}` }, trace.title)),
          h('td', trace.type), h('td', h('span', { class: `state ${stateTone(trace.state)}` }, trace.state)),
          h('td', moment(trace.start)), h('td.number', trace.end ? duration(trace.end - trace.start) : 'runs'),
          h('td.number', count(trace.steps)), h('td', generationsText(trace.generations)),
          h('td', { class: trace.exits ? 'number bad' : 'number' }, String(trace.exits)), h('td', h('span', { class: role(trace.owner) }, trace.owner)))))
        : this.traces.length ? empty('No trace matches the filter.')
          : empty('No operation is in the journal. A reload starts a download; a push reloads widgets.', commandLine(['reload', '--all'])),
    ]
  }

  // One trace

  #one() {
    const { trace } = this
    const back = h('a', { href: '/traces', class: 'back' }, '← All traces')
    if (!trace) {
      return [h('div.pagehead', h('h1', 'Trace'), back),
        h('p', this.failed ? `${this.failed.what}. ${this.failed.advice ?? ''}` : 'Loading…')]
    }
    return [
      h('div.pagehead', h('h1', trace.title), h('span', { class: `state ${stateTone(trace.state)}` }, trace.state), back,
        equivalent(trace.command,
          copyButton(trace.mermaid, 'Copy as Mermaid', { 'data-mermaid': '', title: 'Copy as a Mermaid sequence diagram (key m)' }))),
      h('ul.summary', trace.summary.map(text => h('li', text))),
      trace.steps.length ? h('windowed-table', { class: 'trace', 'data-own': '', 'data-key': `trace ${trace.id} ${trace.lanes.join()}` })
        : empty('No step of this operation is in the journal.'),
    ]
  }

  mounted() {
    const table = document.querySelector('windowed-table.trace')
    const { trace } = this
    if (!table || !trace) return
    if (!table.isConfigured) {
      const width = Math.max(64, Math.min(112, (document.getElementById('main').clientWidth - 760) / trace.lanes.length))
      table.style.setProperty('--lanes', `${Math.round(width * trace.lanes.length)}px`)
      table.configure({ label: `Steps of ${trace.title}`, columns: traceColumns(trace, width), follows: false,
        rowClass: row => row.gap ? 'gap' : row.mark ? `mark-${row.mark}` : '' })
    }
    if (table.trace === trace) return
    table.trace = trace
    table.setRows(withGaps(trace))
  }
}

const generationsText = generations => !generations?.length ? '–' : generations.length === 1 ? String(generations[0]) : `${generations[0]}–${generations.at(-1)}`

/** The color of the state of a trace. */
export function stateTone(state) {
  if (/acknowledged|delivered|reloaded|done/.test(state)) return 'good'
  return /fail|refused|expired|cancel|dropped|discarded/.test(state) ? 'bad' : 'warn'
}

/** The steps with lines for pauses, and for each step which lanes have a running process. */
function withGaps(trace) {
  const rows = []
  // A lane that sends something or ends before its first launch was running before the trace.
  const alive = trace.lanes.map((name, lane) => trace.steps.find(step =>
    step.mark ? subject(step, trace.lanes) === lane : step.from === name)?.mark !== 'launch')
  let time = 0
  for (const step of trace.steps) {
    if (step.time - time > longPause) rows.push({ sequence: step.sequence - 0.5, gap: step.time - time, alive: [...alive] })
    time = step.time
    const before = [...alive]
    if (step.mark === 'launch' || step.mark === 'exit') {
      const lane = subject(step, trace.lanes)
      if (lane >= 0) alive[lane] = step.mark === 'launch'
    }
    rows.push({ ...step, before, alive: [...alive] })
  }
  return rows
}

/** The lane of the process that a step is about. */
function subject(step, lanes) {
  if (step.subject) return lanes.indexOf(step.subject)
  const named = lanes.findIndex(lane => step.note?.startsWith(lane))
  return named >= 0 ? named : lanes.indexOf(step.from)
}

function traceColumns(trace, width) {
  const { lanes } = trace
  return [
    { name: 'sequence', label: 'Seq', text: row => row.gap ? '' : String(row.sequence), href: row => row.gap ? '#main' : `/bus/${row.sequence}` },
    { name: 'clock', label: 'Time', text: row => row.gap ? '' : row.time.toFixed(3) },
    { name: 'waited', label: 'Waited', text: row => row.gap || !row.waited ? '' : duration(row.waited) + (row.after ? ` after #${row.after}` : '') },
    { name: 'lanes', label: 'Lanes', head: h('span.lanenames', lanes.map(lane => h('span', { class: role(lane), title: lane }, lane))),
      draw: (cell, row) => cell.replaceChildren(drawStep(row, lanes, width), h('span.unseen', sentence(row))) },
    { name: 'kind', label: 'Kind', text: row => row.gap ? `${duration(row.gap)} without a step` : row.kind, tone: row => row.mark ? `tone-${row.mark}` : '' },
    { name: 'note', label: 'Note', text: row => row.gap ? '' : (row.note ?? '') + (row.attempt ? ` (attempt ${row.attempt + 1})` : '') },
  ]
}

function sentence(row) {
  if (row.gap) return 'pause'
  const mark = row.mark ? `${row.mark}: ` : ''
  return `${mark}${row.from}${row.fromGeneration ? ` ${row.fromGeneration}` : ''} to ${row.to}${row.toGeneration ? ` ${row.toGeneration}` : ''}`
}

const height = 24

function drawStep(row, lanes, width) {
  const x = lane => (lane + 0.5) * width
  const parts = []
  lanes.forEach((lane, index) => {
    const name = `life ${role(lane)}`
    const isMarked = row.before && row.before[index] !== row.alive[index]
    const wasAlive = row.before ? row.before[index] : row.alive[index]
    const line = (from, to, isAlive) => s('line', { x1: x(index), x2: x(index), y1: from, y2: to, class: isAlive ? name : 'life gone' })
    if (row.gap) parts.push(line(0, 7, wasAlive), line(17, height, wasAlive), s('line', { x1: x(index), x2: x(index), y1: 8, y2: 17, class: 'life folded' }))
    else if (isMarked) parts.push(line(0, 12, wasAlive), line(12, height, row.alive[index]))
    else parts.push(line(0, height, wasAlive))
  })
  if (!row.gap) parts.push(drawArrow(row, lanes, x))
  return s('svg', { width: width * lanes.length, height, 'aria-hidden': 'true', class: 'lane' }, parts)
}

function drawArrow(row, lanes, x) {
  const [from, to] = [lanes.indexOf(row.from), lanes.indexOf(row.to)]
  const about = row.mark ? subject(row, lanes) : -1
  if (row.mark === 'exit' && about >= 0) {
    return s('g.mark-exit', s('path', { d: `M${x(about) - 5} 7l10 10m0 -10l-10 10` }))
  }
  if (row.mark === 'launch' && about >= 0) {
    return s('g.mark-launch', s('path', { d: `M${x(about)} 6l6 11h-12z` }),
      s('text', { x: x(about) + 9, y: 16 }, /generation (\d+)/.exec(row.note ?? '')?.[1] ?? ''))
  }
  if (from < 0 || to < 0 || from === to) {
    return s('g', { class: `mark-${row.mark ?? 'none'} ${role(row.from)}` }, s('circle', { cx: x(Math.max(0, from < 0 ? to : from)), cy: 12, r: 4 }))
  }
  const way = to > from ? 1 : -1
  const isReply = /\/(ok|ack|failed|error)$/.test(row.kind ?? '')
  const tip = x(to) - way * 3
  return s('g', { class: `arrow ${role(row.from)}${isReply ? ' reply' : ''}${row.mark === 'refused' ? ' refused' : ''}` },
    s('line', { x1: x(from) + way * 3, x2: tip, y1: 12, y2: 12 }), s('path', { d: `M${tip - way * 7} 8l${way * 7} 4l${-way * 7} 4z` }),
    s('circle', { cx: x(from), cy: 12, r: 3 }))
}
