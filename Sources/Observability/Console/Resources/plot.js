// SPDX-License-Identifier: Apache-2.0
// Drawings on a time axis: the history of processes, and the ledger of a placement.

import { grid, h, s } from './dom.js'
import { clock, count, decimal, duration, moment, plural } from './format.js'

const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800]

/** Times on an axis, about 90 points apart. */
function ticks(from, to, width) {
  const wanted = (to - from) / Math.max(2, width / 90)
  const step = steps.find(each => each >= wanted) ?? 604800
  const offset = new Date(from * 1000).getTimezoneOffset() * 60
  const found = []
  for (let time = Math.ceil((from - offset) / step) * step + offset; time <= to; time += step) found.push(time)
  return { found, step }
}

function tickText(time, step) {
  const text = clock(time).slice(0, step < 60 ? 8 : 5)
  return step >= 21600 && text === '00:00' ? moment(time).slice(5, 10) : text
}

function axis(from, to, left, width, height, place) {
  const { found, step } = ticks(from, to, width)
  return found.map(time => s('g',
    s('line', { x1: place(time), x2: place(time), y1: 0, y2: height, class: 'grid' }),
    s('text', { x: Math.min(place(time), left + width - 14), y: height + 14, class: 'tick' }, tickText(time, step))))
}

/** The lanes of the generations of each process. `open` goes to a message. */
export function generations(history, width, now) {
  const names = Math.min(180, Math.max(90, width * 0.2))
  const left = names
  const inner = Math.max(60, width - left - 8)
  const laneHeight = 26
  const height = history.lanes.length * laneHeight + 4
  const { from } = history
  const to = Math.max(history.to, from + 1)
  const place = time => left + (Math.max(from, Math.min(to, time)) - from) / (to - from) * inner
  const sentence = `${plural(history.lanes.length, 'process', 'processes')} from ${moment(from)} to ${moment(to)}: ` +
    history.lanes.map(lane => `${lane.name} ${plural(lane.runs.length, 'run')}`).join(', ')
  return s('svg.plot.lanes', { width, height: height + 20, role: 'img', 'aria-label': sentence },
    axis(from, to, left, inner, height, place),
    history.lanes.map((lane, index) => {
      const y = index * laneHeight + 4
      return s('g', { 'data-key': lane.address },
        s('text', { x: 0, y: y + 14, class: 'lane' }, fitted(lane.name, names)),
        s('line', { x1: left, x2: left + inner, y1: y + 9, y2: y + 9, class: 'rail' }),
        lane.runs.map(run => drawRun(lane, run, y, place, to, now)))
    }))
}

const fitted = (name, width) => {
  const most = Math.floor(width / 6.8)
  return name.length > most ? name.slice(0, most - 1) + '…' : name
}

function drawRun(lane, run, y, place, to, now) {
  const end = run.end ?? to
  const x = place(run.start)
  if (end < run.start) return null
  const title = s('title', `${lane.name} generation ${run.generation}, pid ${run.pid}: ${moment(run.start)}, ` +
    `${duration(end - run.start)}${run.end ? `, ended: ${run.ending ?? 'exit'}` : ', runs'}`)
  const spans = run.spans?.length ? run.spans : [{ state: 'running', from: run.start, to: run.end }]
  const content = [
    title,
    spans.map(span => s('rect', {
      x: place(span.from), y, width: Math.max(1.5, place(span.to ?? end) - place(span.from)), height: 18, rx: 2, class: `state-${span.state}`,
    })),
    place(end) - x > 22 && s('text', { x: x + 5, y: y + 13, class: 'generation' }, String(run.generation)),
    run.end && s('path', { d: `M${place(run.end)} ${y - 2}v22`, class: run.isFailure ? 'ending failed' : 'ending' }),
    run.end && run.isFailure && s('path', { d: `M${place(run.end) - 3} ${y + 6}l6 6m0 -6l-6 6`, class: 'cross' }),
  ]
  const sequence = run.endSequence ?? run.startSequence
  return sequence ? s('a', { href: `/bus/${sequence}`, tabindex: '-1', 'aria-hidden': 'true' }, content) : s('g', content)
}

/** The same as a table. */
export function generationsTable(history) {
  const rows = history.lanes.flatMap(lane => lane.runs.map(run => ({ lane, run }))).sort((a, b) => b.run.start - a.run.start)
  const link = (time, sequence) => time ? sequence ? h('a', { href: `/bus/${sequence}` }, moment(time)) : moment(time) : '–'
  return [grid('History of generations', ['Process', 'Generation#', 'PID#', 'Started', 'Ended', 'Duration#', 'How it ended'],
    rows.slice(0, 200).map(({ lane, run }) => h('tr', { 'data-key': `${lane.address} ${run.generation} ${run.start}` },
      h('th', { scope: 'row' }, lane.name), h('td.number', String(run.generation)), h('td.number', String(run.pid ?? '–')),
      h('td', link(run.start, run.startSequence)), h('td', link(run.end, run.endSequence)),
      h('td.number', run.end ? duration(run.end - run.start) : 'runs'),
      h('td', { class: run.isFailure && 'bad' }, run.ending ?? (run.end ? 'exit' : ''))))),
  rows.length > 200 && h('p.dim', `The newest 200 of ${count(rows.length)}.`)]
}

const shapes = {
  granted: (x, y) => s('circle', { cx: x, cy: y, r: 3.5 }),
  free: (x, y) => s('circle', { cx: x, cy: y, r: 3 }),
  delayed: (x, y) => s('path', { d: `M${x} ${y - 4.5}l4.5 8h-9z` }),
  refused: (x, y) => s('path', { d: `M${x - 3.5} ${y - 3.5}l7 7m0 -7l-7 7` }),
  merged: (x, y) => s('rect', { x: x - 2.5, y: y - 2.5, width: 5, height: 5 }),
}

/** What each verdict means. */
export const verdicts = { granted: 'paid for', free: 'free', delayed: 'delayed', refused: 'refused', merged: 'merged with a newer one' }

/** The sign of a verdict, for legends and tables. */
export const sign = verdict => s('svg', { class: `sign verdict-${verdict}`, width: 12, height: 12, 'aria-hidden': 'true' }, shapes[verdict]?.(6, 6))

/** The balance of a placement over time, with a sign for each decision. */
export function ledger(account, entries, from, to, width, selected, open) {
  const left = 34
  const inner = Math.max(60, width - left - 10)
  const height = 150
  const most = Math.max(1, account.capacity ?? 0, account.balance, ...entries.map(entry => entry.balance))
  const x = time => left + (Math.max(from, Math.min(to, time)) - from) / Math.max(1, to - from) * inner
  const y = value => 8 + (1 - Math.max(0, value) / most) * (height - 16)
  const shown = entries.filter(entry => entry.date >= from && entry.date <= to)
  let path = ''
  for (const entry of shown) path += `${path ? `H${x(entry.date).toFixed(1)}V` : `M${x(entry.date).toFixed(1)} `}${y(entry.balance).toFixed(1)}`
  if (path) path += `L${x(to).toFixed(1)} ${y(account.balance).toFixed(1)}`
  const spread = Math.max(1, Math.ceil(shown.length / 500))
  const marks = shown.filter((entry, index) => index % spread === 0 || entry.verdict === 'refused' || entry.number === selected)
  const tally = Object.keys(verdicts).map(verdict => [verdict, shown.filter(entry => entry.verdict === verdict).length]).filter(([, number]) => number)
  const sentence = `Balance of placement ${account.placement}, ${account.kind}, from ${moment(from)} to ${moment(to)}: now ${decimal(account.balance)} of ` +
    `${decimal(most)}. ${tally.map(([verdict, number]) => `${number} ${verdicts[verdict]}`).join(', ') || 'No reload'}.`
  return s('svg.plot.ledger', { width, height: height + 20, role: 'img', 'aria-label': sentence },
    [0, most / 2, most].map(value => s('g', s('line', { x1: left, x2: left + inner, y1: y(value), y2: y(value), class: 'grid' }),
      s('text', { x: left - 6, y: y(value) + 4, class: 'tick end' }, decimal(value)))),
    axis(from, to, left, inner, height, x),
    path && s('path', { d: path, class: 'balance' }),
    marks.map(entry => s('g', {
      class: `verdict-${entry.verdict}${entry.number === selected ? ' selected' : ''}`, 'data-key': String(entry.number), onclick: () => open(entry),
    }, s('title', `${moment(entry.date)} reload ${entry.reload}: ${entry.verdict}, ${entry.rule}, because of ${entry.because}`), shapes[entry.verdict]?.(x(entry.date), y(entry.balance)))))
}
