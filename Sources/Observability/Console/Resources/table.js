// SPDX-License-Identifier: Apache-2.0
// `<windowed-table>`: a table of any length, of which only the visible rows are in the document.
//
// The rows in memory are one part of the list, which grows on either side as one scrolls. The scroll bar maps to the
// numbers of the whole list: a short move scrolls by rows, a long one loads the rows around the number at that place. At
// the end of the list the table follows new rows, until one scrolls up or moves to a row.

import { h } from './dom.js'

const rowLimit = 200
const memoryLimit = 3000
const tallest = 8_000_000
const margin = 80
const rowHeight = 24

class WindowedTable extends HTMLElement {
  rows = []
  first = 1
  last = 0
  top = 0
  isFollowing = false
  /** How many rows came since one scrolled up. */
  newer = 0
  /** Whether rows are being loaded. */
  isLoading = false
  /** The numbers from which and to which the rows in memory are complete. */
  from = 1
  to = 0
  #lines = []
  #height = 0
  #head = 24
  #place = 0
  #frame = 0
  #idle = 0
  #session = 0
  #target = null
  #focused = null
  #selected = null

  /**
   * `columns` have `name`, `label` and `text(row, previous)`, or `draw(cell, row)`; one has `href(row)`, which gets the
   * focus. `load` reads rows from the server; without it, `setRows` gives all of them. With `isFiltered()`, numbers of
   * the list may be missing.
   */
  configure({ label, columns, load, key = row => row.sequence, rowClass = () => '', isFiltered = () => false }) {
    Object.assign(this, { columns, load, key, rowClass, isFiltered, tabIndex: 0 })
    this.setAttribute('role', 'group')
    this.setAttribute('aria-label', label)
    this.body = h('tbody')
    this.spacer = h('div')
    this.table = h('table', { 'aria-label': label }, h('colgroup', columns.map(({ name }) => h(`col.col-${name}`))),
      h('thead', h('tr', columns.map(({ name, label, head }) => h(`th.cell-${name}`, { scope: 'col' }, head ?? label)))), this.body)
    this.replaceChildren(h('div.window', this.table), this.spacer)
    this.addEventListener('scroll', () => this.#scrolled(), { passive: true })
    this.addEventListener('keydown', event => this.#keyed(event))
    this.addEventListener('focusin', ({ target }) => {
      const line = target.closest('tbody tr')
      this.#focused = line?.key ?? null
      if (line) this.#pause()
    })
    this.addEventListener('pointerover', ({ target }) => {
      const cell = target.closest('td')
      if (cell?.scrollWidth > cell?.clientWidth) cell.title = cell.textContent
    })
    new ResizeObserver(() => {
      this.#height = this.clientHeight
      this.#head = this.table.tHead.offsetHeight
      this.#schedule()
    }).observe(this)
  }

  /** Replaces all rows. */
  setRows(rows) {
    this.rows = rows
    this.draw()
  }

  /** The key of the row that is marked as the current one. */
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

  /** Shows the newest rows, and follows. */
  async toEnd() {
    this.isFollowing = Boolean(this.load)
    this.newer = 0
    this.top = Infinity
    if (!this.load || (this.rows.length && this.to >= this.last)) return this.draw(true)
    const result = await this.#read({})
    if (result) this.#replace(result)
    return result
  }

  /** Shows the oldest rows. */
  toStart() {
    this.#pause()
    if (this.load && this.from > this.first) return this.#jump(this.first, 0)
    this.top = 0
    this.draw(true)
  }

  /** Shows the row with a number, and pauses. */
  async toRow(sequence) {
    this.#pause()
    const index = this.#index(sequence)
    if (index < 0) return this.#jump(sequence, 0.4)
    if (index < this.#start || index >= this.#start + this.#capacity) this.top = index - this.#capacity * 0.4
    this.draw(true)
  }

  /** Adds new rows at the end. `last` is the number up to which they are complete. */
  add(rows, last) {
    const added = rows.filter(({ sequence }) => sequence > this.to)
    if (this.to >= this.last && this.rows.length < 2 * memoryLimit) {
      this.rows.push(...added)
      this.to = Math.max(this.to, last)
    }
    this.last = Math.max(this.last, last)
    if (!this.isFollowing) this.newer += added.length
    else if (this.rows.length > memoryLimit) {
      this.rows.splice(0, this.rows.length - memoryLimit)
      this.from = this.rows[0].sequence
    }
    this.#schedule()
  }

  /** The first and the last visible row. */
  get visible() { return [this.rows[this.#start], this.rows[Math.min(this.rows.length, this.#start + this.#capacity) - 1]] }

  get #capacity() { return Math.max(1, Math.min(rowLimit, Math.floor((this.#height - this.#head) / rowHeight))) }
  get #most() { return Math.max(0, this.rows.length - this.#capacity) }
  get #start() { return Math.floor(Math.max(0, Math.min(this.#most, this.top))) }
  get #isWhole() { return !this.load || (this.from <= this.first && this.to >= this.last) }
  /** How many rows the scroll bar has before the last ones that fit. */
  get #range() { return this.#isWhole ? this.#most : Math.max(this.#most, this.last - this.first + 1 - this.#capacity) }
  get #travel() { return Math.min(tallest, this.#range * rowHeight) }

  #index(key) { return this.rows.findIndex(row => this.key(row) === key) }

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
      const result = await this.load({ limit: rowLimit, ...query })
      return session === this.#session ? result : null
    } catch (error) {
      if (session === this.#session) this.dispatchEvent(new CustomEvent('failed', { detail: error }))
    } finally {
      if (session === this.#session) this.isLoading = false
    }
  }

  #replace({ rows, first, last, scanned }, place = () => Infinity) {
    this.rows = rows
    this.first = first
    this.last = Math.max(this.last, last)
    this.from = scanned?.from ?? rows[0]?.sequence ?? first
    this.to = scanned?.to ?? rows.at(-1)?.sequence ?? last
    this.top = place()
    this.draw(true)
  }

  /** Loads the rows around a number. During a load only the newest wish is kept. */
  async #jump(sequence, place) {
    this.#target = { sequence, place }
    if (this.isLoading) return
    while (this.#target) {
      const { sequence, place } = this.#target
      this.#target = null
      const result = await this.#read({ around: sequence })
      if (!result) return
      this.#replace(result, () => {
        const index = result.rows.findIndex(row => row.sequence >= sequence)
        return (index < 0 ? result.rows.length : index) - this.#capacity * place
      })
    }
  }

  /** Loads more rows on the side where few are left. */
  async #extend() {
    if (!this.load || this.isLoading) return
    if (this.from > this.first && this.#start < margin && this.rows.length < 2 * memoryLimit) {
      const result = await this.#read({ before: this.from })
      if (!result) return
      const older = result.rows.filter(({ sequence }) => sequence < this.from)
      this.rows = older.concat(this.rows)
      this.top += older.length
      this.first = result.first
      this.from = Math.min(result.scanned?.from ?? this.first, this.from - 1)
      if (!this.isFollowing && this.rows.length > memoryLimit) {
        this.rows.length = memoryLimit
        this.to = this.rows.at(-1).sequence
      }
    } else if (this.to < this.last && this.rows.length - this.#start - this.#capacity < margin) {
      const result = await this.#read({ after: this.to })
      if (!result) return
      this.rows = this.rows.concat(result.rows.filter(({ sequence }) => sequence > this.to))
      this.last = Math.max(this.last, result.last)
      this.to = Math.max(result.scanned?.to ?? this.last, this.to + 1)
      const extra = Math.min(this.#start, this.rows.length - memoryLimit)
      if (extra > 0) {
        this.rows.splice(0, extra)
        this.top -= extra
        this.from = this.rows[0].sequence
      }
    } else return
    if (this.#target) this.#jump(this.#target.sequence, this.#target.place)
    else this.draw()
  }

  #schedule() { this.#frame ||= requestAnimationFrame(() => this.draw()) }

  /** Shows the visible rows. */
  draw(movesBar = this.isFollowing) {
    cancelAnimationFrame(this.#frame)
    this.#frame = 0
    const hadFocus = this.body.contains(document.activeElement)
    if (this.isFollowing) this.top = this.#most
    this.top = Math.max(0, Math.min(this.#most, this.top))
    const start = this.#start
    const length = Math.min(this.#capacity, this.rows.length - start)
    while (this.#lines.length < length) this.#addLine()
    while (this.#lines.length > length) this.#lines.pop().remove()
    this.#lines.forEach((line, index) => this.#fill(line, this.rows[start + index], this.rows[start + index - 1], start + index))
    if (hadFocus && document.activeElement?.closest('tr')?.key !== this.#focused) {
      // Lines are reused for other rows: the focus moves with its row, and to the list when its row has left.
      const line = this.#lines.find(({ key }) => key === this.#focused)
      ;(line?.querySelector('[data-row]') ?? this).focus({ preventScroll: true })
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
      const link = column.href && h('a', { 'data-row': '' }, text)
      return { column, text, link, cell: h(`td.cell-${column.name}`, link ?? (column.draw ? null : text)) }
    })
    const line = h('tr', parts.map(({ cell }) => cell))
    this.#lines.push(Object.assign(line, { parts }))
    this.body.append(line)
  }

  #fill(line, row, previous, index) {
    const key = this.key(row)
    const isCurrent = key === this.#selected
    if (isCurrent) line.setAttribute('aria-current', 'true')
    else line.removeAttribute('aria-current')
    const number = this.#isWhole ? index + 1 : this.isFiltered() ? null : key - this.first + 1
    if (number) line.setAttribute('aria-rowindex', number)
    if (line.row === row && line.previous === previous) return
    Object.assign(line, { row, key, previous, className: this.rowClass(row) })
    for (const { column, text, link, cell } of line.parts) {
      if (column.draw) column.draw(cell, row)
      else {
        const value = column.text(row, previous)
        if (text.data !== value) text.data = value
      }
      link?.setAttribute('href', column.href(row))
      cell.removeAttribute('title')
      if (column.tone) cell.className = `cell-${column.name} ${column.tone(row)}`
    }
  }

  /** Moves the focus by rows. */
  move(step) {
    this.#pause()
    const [start, end] = [this.#start, Math.min(this.rows.length, this.#start + this.#capacity)]
    const current = this.#index(this.#focused ?? this.#selected)
    const isFresh = current < 0 || (this.#focused === null && (current < start || current >= end))
    const index = isFresh ? step > 0 ? start : end - 1 : Math.max(0, Math.min(this.rows.length - 1, current + step))
    if (!this.rows[index]) return
    if (index < start) this.top = index
    if (index >= end) this.top = index - this.#capacity + 1
    this.#focused = this.key(this.rows[index])
    this.draw(true)
    this.#lines[index - this.#start]?.querySelector('[data-row]').focus({ preventScroll: true })
  }

  #keyed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const page = Math.max(1, this.#capacity - 1)
    const isOnRow = this.body.contains(document.activeElement)
    const by = step => isOnRow || Math.abs(step) === 1 ? this.move(step) : this.#scrollBy(step)
    const move = {
      ArrowDown: () => by(1), ArrowUp: () => by(-1), PageDown: () => by(page), PageUp: () => by(-page),
      Home: () => this.toStart(), End: () => this.toEnd(),
    }[event.key]
    if (!move) return
    event.preventDefault()
    if (isOnRow && !event.key.match(/^(Arrow|Page)/)) this.focus({ preventScroll: true })
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

  /** Follows when the end of the list is reached. */
  #settle() {
    if (!this.load || this.isFollowing || this.to < this.last || this.top < this.#most - 0.5) return
    this.isFollowing = true
    this.newer = 0
  }

  #scrollFar(share) {
    if (share > 0.9999) return this.toEnd()
    this.#pause()
    const sequence = Math.round(this.first + share * this.#range)
    if (!this.isFiltered() && sequence >= this.from && sequence + this.#capacity <= this.to) this.top = sequence - this.from
    else this.#jump(sequence, 0)
  }

  /** Puts the thumb of the scroll bar to the place of the visible rows. */
  #moveBar() {
    const travel = this.#travel
    if (!travel) return
    let share = this.#most ? this.top / this.#most : 0
    if (this.isFollowing) share = 1
    else if (!this.#isWhole) {
      share = ((this.rows[this.#start]?.sequence ?? this.from) - this.first) / Math.max(1, this.#range)
      // Only at an end of the list the thumb is at an end of the bar, so that one can always scroll on.
      const least = this.from <= this.first && this.top === 0 ? 0 : 2 / travel
      share = Math.max(least, Math.min(1 - 2 / travel, share))
    }
    const place = Math.round(share * travel)
    if (Math.abs(place - this.#place) < 1) return
    this.scrollTop = place
    this.#place = place
  }
}

customElements.define('windowed-table', WindowedTable)
