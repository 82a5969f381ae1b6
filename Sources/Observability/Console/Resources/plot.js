// SPDX-License-Identifier: Apache-2.0
// Drawings on a time axis: the history of processes, and the ledger of a placement.

import {clock, decimal, duration, moment, s} from './dom.js'

const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800]

/** The lines and times of an axis, about 90 points apart. */
function axis(from, to, end, width, height, place) {
	const step = steps.find(each => each >= (to - from) / Math.max(2, width / 90)) ?? 604800
	const offset = new Date(from * 1000).getTimezoneOffset() * 60
	const marks = []
	for (let time = Math.ceil((from - offset) / step) * step + offset; time <= to; time += step) {
		const text = clock(time).slice(0, step < 60 ? 8 : 5)
		marks.push(s('line.grid', {x1: place(time), x2: place(time), y1: 0, y2: height}),
			s('text.tick', {x: Math.min(place(time), end - 14), y: height + 14}, step >= 21600 && text === '00:00' ? moment(time).slice(5, 10) : text))
	}
	return marks
}

const scale = (from, to, left, width) => time => left + (Math.max(from, Math.min(to, time)) - from) / Math.max(1, to - from) * width

/** The lanes of the generations of each process. `open` shows a message. */
export function generations({lanes, from, to}, width, open) {
	const left = Math.min(180, Math.max(90, width * 0.2))
	const height = lanes.length * 26 + 4
	const x = scale(from, to, left, width - left - 8)
	const most = Math.floor(left / 6.8)
	return s('svg.plot', {
		width, height: height + 20, role: 'img',
		'aria-label': `Generations from ${moment(from)} to ${moment(to)}: ${lanes.map(({name, runs}) =>
			`${name}: ${runs.map(describe).join(', ')}`).join('. ')}`,
	}, axis(from, to, width - 8, width - left, height, x), lanes.map(({name, runs}, index) => s('g', {transform: `translate(0 ${index * 26 + 4})`},
		s('text', {x: 0, y: 14}, name.length > most ? `${name.slice(0, most - 1)}…` : name),
		runs.map(run => drawRun(name, run, x, to, open)))))
}

const describe = ({generation, start, end, ending}) => `generation ${generation} from ${moment(start)}${end ? ` to ${moment(end)}, ${ending ?? 'exit'}` : ''}`

function drawRun(name, run, x, now, open) {
	const {generation, start, end, isFailure, spans, endSequence, startSequence} = run
	const until = end ?? now
	return s('g.run', {onclick: () => open(endSequence ?? startSequence)},
		s('title', `${name} ${describe(run)}, ${duration(until - start)}`),
		(spans?.length ? spans : [{state: 'running', from: start, to: end}]).map(({state, from, to}) =>
			s(`rect.state-${state}`, {x: x(from), y: 0, width: Math.max(1.5, x(to ?? until) - x(from)), height: 18, rx: 2})),
		x(until) - x(start) > 22 && s('text', {x: x(start) + 5, y: 13}, String(generation)),
		end && s(`path.ending${isFailure ? '.failed' : ''}`, {d: `M${x(end)} -2v22${isFailure ? `m-3 -14l6 6m0 -6l-6 6` : ''}`}))
}

const circle = 'M-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0'
const shapes = {granted: circle, free: circle, delayed: 'M0 -4.5l4.5 8h-9z', refused: 'M-3.5 -3.5l7 7m0 -7l-7 7', merged: 'M-2.5 -2.5h5v5h-5z'}
const shape = (verdict, x, y) => s('path', {d: shapes[verdict], transform: `translate(${x} ${y})`})

export const verdicts = {granted: 'paid for', free: 'free', delayed: 'delayed', refused: 'refused', merged: 'merged'}

export const sign = verdict => s(`svg.sign.verdict-${verdict}`, {width: 12, height: 12, 'aria-hidden': 'true'}, shape(verdict, 6, 6))

/** The balance of a placement over time, with a sign for each decision. */
export function ledger(account, entries, from, to, width, selected, open) {
	const [left, height] = [34, 150]
	const shown = entries.filter(({date}) => date >= from && date <= to)
	const most = Math.max(1, account.capacity ?? 0, account.balance, ...shown.map(({balance}) => balance))
	const x = scale(from, to, left, width - left - 10)
	const y = value => 8 + (1 - Math.max(0, value) / most) * (height - 16)
	const path = shown.map(({date, balance}, index) => `${index ? 'H' : 'M'}${x(date).toFixed(1)}${index ? 'V' : ' '}${y(balance).toFixed(1)}`).join('')
	const tally = Object.entries(verdicts).map(([verdict, text]) => [shown.filter(entry => entry.verdict === verdict).length, text]).filter(([number]) => number)
	return s('svg.plot', {
		width, height: height + 20, role: 'img', 'aria-label': `Balance of placement ${account.placement}, ${account.kind}, from ${moment(from)} to ${moment(to)}: now ${decimal(account.balance)} `
			+ `of ${decimal(most)}. ${tally.map(part => part.join(' ')).join(', ') || 'No reload'}.`,
	}, [0, most / 2, most].map(value => [s('line.grid', {x1: left, x2: width - 10, y1: y(value), y2: y(value)}), s('text.tick.end', {x: left - 6, y: y(value) + 4}, decimal(value))]),
	axis(from, to, width - 10, width - left, height, x), path && s('path.balance', {d: `${path}H${x(to).toFixed(1)}`}),
	shown.slice(-500).map(entry =>
		s(`g.verdict-${entry.verdict}${entry.number === selected ? '.selected' : ''}`, {onclick: () => open(entry)},
			s('title', `${moment(entry.date)} reload ${entry.reload}: ${entry.verdict}, ${entry.rule}, because of ${entry.because}`), shape(entry.verdict, x(entry.date), y(entry.balance)))))
}
