// SPDX-License-Identifier: Apache-2.0
// `<windowed-table>`: a table of any length, of which only the visible rows are in the document.
//
// The rows in memory are one part of the list. The scroll bar maps to the numbers of the whole list: a short move scrolls
// by rows, a long one loads the rows around that number. At the end the table follows new rows.

import {h} from './dom.js'

const [rowLimit, memoryLimit, margin, rowHeight, tallest] = [200, 3000, 80, 24, 8e6]

class WindowedTable extends HTMLElement {
	rows = []
	first = 1
	last = 0
	// Between these numbers the rows in memory are complete.
	from = 1
	to = 0
	// The index of the first visible row.
	top = 0
	isFollowing = false
	isLoading = false
	// How many rows came since one scrolled up.
	newer = 0
	#lines = []
	#height = 0
	#place = 0
	#frame = 0
	#idle = 0
	#session = 0
	#target = null
	#focused = null
	#selected = null

	/** `load` reads rows from the server; without it, `setRows` gives all. With `isFiltered()`, numbers are missing. */
	configure({label, columns, load, key = row => row.sequence, rowClass = () => '', isFiltered = () => false}) {
		Object.assign(this, {columns, load, key, rowClass, isFiltered, tabIndex: 0, role: 'group', ariaLabel: label})
		this.body = h('tbody')
		this.spacer = h('div')
		this.table = h('table', {'aria-label': label}, h('colgroup', columns.map(({name}) => h(`col.col-${name}`))),
			h('thead', h('tr', columns.map(({name, label, head}) => h(`th.cell-${name}`, {scope: 'col'}, head ?? label)))), this.body)
		this.replaceChildren(h('div.window', this.table), this.spacer)
		this.onscroll = () => this.#scrolled()
		this.onkeydown = event => this.#keyed(event)
		this.addEventListener('focusin', ({target}) => {
			const line = target.closest('tbody tr')
			this.#focused = line?.key ?? null
			if (line) this.#pause()
		})
		new ResizeObserver(() => {
			this.#height = this.clientHeight
			this.#schedule()
		}).observe(this)
	}

	setRows(rows) {
		this.rows = rows
		this.draw()
	}

	set selected(key) {
		this.#selected = key
		this.draw()
	}

	/** Forgets all rows, and reads the newest ones. */
	restart() {
		this.#session += 1
		this.isLoading = false
		this.#target = this.#focused = null
		this.rows = []
		this.#lines = []
		this.body.replaceChildren()
		return this.toEnd()
	}

	async toEnd() {
		this.isFollowing = Boolean(this.load)
		this.newer = 0
		this.top = Infinity
		if (!this.load || (this.rows.length && this.to >= this.last)) return this.draw(true)
		const result = await this.#read({})
		if (result) this.#replace(result)
		return result
	}

	toRow(sequence, place = 0.4) {
		this.#pause()
		const index = this.#index(sequence)
		if (index < 0 && this.load) return this.#jump(sequence, place)
		if (index < this.#start || index >= this.#start + this.#capacity) this.top = index - this.#capacity * place
		this.draw(true)
	}

	/** Adds new rows, which are complete up to the number `last`. */
	add(rows, last) {
		const added = rows.filter(({sequence}) => sequence > this.to)
		if (this.to >= this.last && this.rows.length < 2 * memoryLimit) {
			this.rows.push(...added)
			this.to = Math.max(this.to, last)
		}
		this.last = Math.max(this.last, last)
		if (this.isFollowing) this.#trim(this.rows.length)
		else this.newer += added.length
		this.#schedule()
	}

	get visible() {return [this.rows[this.#start], this.rows[Math.min(this.rows.length, this.#start + this.#capacity) - 1]]}

	get #capacity() {return Math.max(1, Math.min(rowLimit, Math.floor(this.#height / rowHeight) - 1))}
	get #most() {return Math.max(0, this.rows.length - this.#capacity)}
	get #start() {return Math.floor(Math.max(0, Math.min(this.#most, this.top)))}
	get #isWhole() {return !this.load || (this.from <= this.first && this.to >= this.last)}
	// How many rows the scroll bar has before the last ones that fit.
	get #range() {return this.#isWhole ? this.#most : Math.max(this.#most, this.last - this.first + 1 - this.#capacity)}
	get #travel() {return Math.min(tallest, this.#range * rowHeight)}

	#index(key) {return this.rows.findIndex(row => this.key(row) === key)}

	#pause() {
		if (!this.isFollowing) return
		this.top = this.#most
		this.isFollowing = false
		this.newer = 0
		this.#schedule()
	}

	async #read(query) {
		const session = this.#session
		this.isLoading = true
		try {
			const result = await this.load({limit: rowLimit, ...query})
			if (session === this.#session) return result
		} catch (error) {
			if (session === this.#session) this.dispatchEvent(new CustomEvent('failed', {detail: error}))
		} finally {
			if (session === this.#session) this.isLoading = false
		}
	}

	#replace({rows, first, last, scanned}, place = () => Infinity) {
		this.rows = rows
		this.first = first
		this.last = Math.max(this.last, last)
		this.from = scanned.from
		this.to = scanned.to
		this.top = place()
		this.draw(true)
	}

	#trim(most) {
		const extra = Math.min(most, this.rows.length - memoryLimit)
		if (extra <= 0) return
		this.rows.splice(0, extra)
		this.top -= extra
		this.from = this.rows[0].sequence
	}

	/** Loads the rows around a number. During a load, the newest wish waits. */
	async #jump(sequence, place) {
		this.#target = {sequence, place}
		while (this.#target && !this.isLoading) {
			const {sequence, place} = this.#target
			this.#target = null
			const result = await this.#read({around: sequence})
			if (!result) return
			this.#replace(result, () => result.rows.filter(row => row.sequence < sequence).length - this.#capacity * place)
		}
	}

	/** Loads more rows on the side where few are left. */
	async #extend() {
		if (!this.load || this.isLoading) return
		if (this.from > this.first && this.#start < margin && this.rows.length < 2 * memoryLimit) {
			const result = await this.#read({before: this.from})
			if (!result) return
			this.rows = [...result.rows, ...this.rows]
			this.top += result.rows.length
			this.first = result.first
			this.from = Math.min(result.scanned.from, this.from - 1)
			if (!this.isFollowing && this.rows.length > memoryLimit) {
				this.rows.length = memoryLimit
				this.to = this.rows.at(-1).sequence
			}
		} else if (this.to < this.last && this.rows.length - this.#start - this.#capacity < margin) {
			const result = await this.#read({after: this.to})
			if (!result) return
			this.rows = [...this.rows, ...result.rows]
			this.last = Math.max(this.last, result.last)
			this.to = Math.max(result.scanned.to, this.to + 1)
			this.#trim(this.#start)
		} else return
		if (this.#target) this.#jump(this.#target.sequence, this.#target.place)
		else this.draw()
	}

	#schedule() {this.#frame ||= requestAnimationFrame(() => this.draw())}

	draw(movesBar = this.isFollowing) {
		cancelAnimationFrame(this.#frame)
		this.#frame = 0
		const hadFocus = this.body.contains(document.activeElement)
		this.top = this.isFollowing ? this.#most : Math.max(0, Math.min(this.#most, this.top))
		const start = this.#start
		const length = Math.min(this.#capacity, this.rows.length - start)
		while (this.#lines.length < length) this.#addLine()
		while (this.#lines.length > length) this.#lines.pop().remove()
		this.#lines.forEach((line, index) => this.#fill(line, this.rows[start + index], this.rows[start + index - 1], start + index))
		if (hadFocus && document.activeElement.closest('tr')?.key !== this.#focused) {
			// Lines are reused: the focus follows its row, and goes to the list when the row has left.
			const line = this.#lines.find(({key}) => key === this.#focused)
			;(line?.querySelector('a') ?? this).focus({preventScroll: true})
		}
		this.table.setAttribute('aria-rowcount', this.#isWhole ? this.rows.length : this.isFiltered() ? -1 : this.last - this.first + 1)
		this.spacer.style.setProperty('height', `${this.#travel + this.#height}px`)
		if (movesBar) this.#moveBar()
		this.dispatchEvent(new CustomEvent('view'))
		this.#extend()
	}

	#addLine() {
		const parts = this.columns.map(column => {
			const text = document.createTextNode('')
			const link = column.href && h('a', text)
			return {column, text, link, cell: h(`td.cell-${column.name}`, link || text)}
		})
		const line = h('tr', parts.map(({cell}) => cell))
		this.#lines.push(Object.assign(line, {parts}))
		this.body.append(line)
	}

	#fill(line, row, previous, index) {
		const key = this.key(row)
		line.ariaCurrent = key === this.#selected ? 'true' : null
		line.ariaRowIndex = this.#isWhole ? index + 1 : this.isFiltered() ? null : key - this.first + 1
		if (line.row === row && line.previous === previous) return
		Object.assign(line, {row, key, previous, className: this.rowClass(row)})
		for (const {column, text, link, cell} of line.parts) {
			if (column.draw) column.draw(cell, row)
			else text.data = column.text(row, previous)
			link?.setAttribute('href', column.href(row))
			if (column.tone) cell.className = `cell-${column.name} ${column.tone(row)}`
		}
	}

	move(step) {
		this.#pause()
		const [start, end] = [this.#start, Math.min(this.rows.length, this.#start + this.#capacity)]
		const current = this.#index(this.#focused ?? this.#selected)
		const index = current < 0 ? step > 0 ? start : end - 1 : Math.max(0, Math.min(this.rows.length - 1, current + step))
		if (!this.rows[index]) return
		if (index < start) this.top = index
		if (index >= end) this.top = index - this.#capacity + 1
		this.#focused = this.key(this.rows[index])
		this.draw(true)
		this.#lines[index - this.#start].querySelector('a').focus({preventScroll: true})
	}

	#keyed(event) {
		if (event.ctrlKey || event.metaKey || event.altKey) return
		const move = {
			ArrowDown: () => this.move(1), ArrowUp: () => this.move(-1), PageDown: () => this.#scrollBy(this.#capacity - 1), PageUp: () => this.#scrollBy(1 - this.#capacity),
			Home: () => this.load ? this.toRow(this.first, 0) : this.#scrollBy(-this.top), End: () => this.toEnd(),
		}[event.key]
		if (!move) return
		event.preventDefault()
		if (!event.key.startsWith('Arrow')) this.focus({preventScroll: true})
		move()
	}

	#scrollBy(rows) {
		this.#pause()
		this.top += rows
		this.#settle()
		this.draw(true)
	}

	#scrolled() {
		const moved = this.scrollTop - this.#place
		if (Math.abs(moved) < 1) return
		this.#place = this.scrollTop
		// A change of the height is no scroll.
		if (this.isFollowing && this.#place + this.clientHeight >= this.scrollHeight - 1) return
		const travel = this.#travel
		if (!this.#isWhole && Math.abs(moved) > 3 * this.#height) this.#scrollFar(this.#place / travel)
		else {
			if (moved < 0) this.#pause()
			if (this.#isWhole) this.top = this.#place / travel * this.#most
			else this.top += moved / rowHeight
			this.#settle()
			// At an end of the bar there may still be rows.
			if (this.#place <= 1 || this.#place >= travel - 1) return this.draw(true)
		}
		this.#schedule()
		clearTimeout(this.#idle)
		this.#idle = setTimeout(() => this.#moveBar(), 150)
	}

	#settle() {
		if (!this.load || this.isFollowing || this.to < this.last || this.top < this.#most - 0.5) return
		this.isFollowing = true
		this.newer = 0
	}

	#scrollFar(share) {
		if (share > 0.9999) return this.toEnd()
		this.#pause()
		this.#jump(Math.round(this.first + share * this.#range), 0)
	}

	#moveBar() {
		const travel = this.#travel
		if (!travel) return
		let share = this.isFollowing ? 1 : this.top / this.#most
		if (!this.#isWhole && !this.isFollowing) {
			// The thumb is at an end of the bar only at an end of the list, so that one can scroll on.
			const edge = 2 / travel
			share = ((this.rows[this.#start]?.sequence ?? this.from) - this.first) / this.#range
			share = Math.max(this.from <= this.first && this.top === 0 ? 0 : edge, Math.min(1 - edge, share))
		}
		const place = Math.round(share * travel)
		if (Math.abs(place - this.#place) < 1) return
		this.scrollTop = place
		this.#place = place
	}
}

customElements.define('windowed-table', WindowedTable)
