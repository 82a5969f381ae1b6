// SPDX-License-Identifier: Apache-2.0
// `<windowed-table>`: a table of any length, of which only the visible rows are in the document.
//
// The rows in memory are one part of the list, which is extended on either side as one scrolls. The scroll bar shows
// the numbers of the whole list: short moves scroll by rows, and a long move loads the rows around the number at
// that place. At the end of the list the table follows new rows, until one scrolls up or moves to a row.

import { h } from './dom.js'

const rowLimit = 200
const memoryLimit = 3000
const tallest = 8_000_000
const margin = 80

class WindowedTable extends HTMLElement {
  rows = []
  first = 1
  last = 0
  top = 0
  isFollowing = true
  newer = 0
  isConfigured = false
  #from = 1
  #to = 0
  #lines = []
  #height = 0
  #rowHeight = 24
  #headHeight = 24
  #scrollTop = 0
  #frame = 0
  #idle = 0
  #session = 0
  #isLoading = false
  #target = null
  #pending = null
  #focusKey = null
  #isComplete = false
  #selected = null

  /**
   * `columns` have `label`, `name` and `text(row, previous)`, or `draw(cell, row)`; one has `href(row)`, and is what gets
   * the focus. `load` reads rows from the server; without it, `setRows` gives all of them. `isFiltered()`: numbers of
   * the list may be missing.
   */
  configure({ label, columns, load, key, rowClass, isFiltered, follows = true }) {
    Object.assign(this, { columns, load, rowClass, isConfigured: true })
    this.key = key ?? (row => row.sequence)
    this.isFiltered = isFiltered ?? (() => false)
    this.isFollowing = follows
    this.tabIndex = 0
    this.setAttribute('role', 'group')
    this.setAttribute('aria-label', label)
    this.body = h('tbody')
    this.spacer = h('div.spacer')
    this.table = h('table', { 'aria-label': label },
      h('colgroup', columns.map(column => h('col', { class: `col-${column.name}` }))),
      h('thead', h('tr', columns.map(column => h('th', { scope: 'col', class: `cell-${column.name}` }, column.head ?? column.label)))),
      this.body)
    this.replaceChildren(h('div.window', this.table), this.spacer)
    this.addEventListener('scroll', () => this.#scrolled(), { passive: true })
    this.addEventListener('keydown', event => this.#keyed(event))
    this.addEventListener('focusin', event => {
      const row = event.target.closest('tbody tr')
      this.#focusKey = row?.key ?? null
      if (row) this.#pause()
    })
    this.addEventListener('pointerover', event => {
      const cell = event.target.closest('td')
      if (cell && cell.scrollWidth > cell.clientWidth) cell.title = cell.textContent
    })
    new ResizeObserver(() => this.#measure()).observe(this)
    this.#measure()
  }

  /** Replaces all rows. */
  setRows(rows) {
    this.rows = rows
    this.#isComplete = true
    this.draw()
  }

  /** The row that is marked as the current one. */
  set selected(key) {
    this.#selected = key
    this.draw()
  }

  /** Forgets all rows, and reads the newest ones. */
  async restart() {
    this.#session += 1
    this.#isLoading = false
    this.#target = null
    this.#focusKey = null
    this.rows = []
    this.#isComplete = false
    return this.toEnd()
  }

  /** Shows the newest rows, and follows. */
  async toEnd() {
    this.isFollowing = true
    this.newer = 0
    if (this.#isComplete || (this.rows.length && this.#to >= this.last)) return this.draw()
    this.#pending = []
    const result = await this.#read({ limit: rowLimit })
    const pending = this.#pending ?? []
    this.#pending = null
    if (!result) return
    this.#replace(result)
    for (const batch of pending) this.append(batch.rows, batch.last)
    this.draw()
    return result
  }

  /** Shows the oldest rows. */
  async toStart() {
    this.#pause()
    if (this.#isComplete || (this.rows.length && this.#from <= this.first)) {
      this.top = 0
      return this.draw(true)
    }
    return this.#jump(this.first, 0)
  }

  /** Shows the row with a number in the middle, and pauses. */
  async toRow(sequence) {
    this.#pause()
    const index = this.rows.findIndex(row => this.key(row) === sequence)
    if (index < 0 && this.load) return this.#jump(sequence, 0.4)
    const start = Math.floor(this.top)
    if (index < start || index >= start + this.#capacity) this.top = index - this.#capacity * 0.4
    this.draw(true)
  }

  /** Adds new rows at the end. `last` is the number up to which they are complete. */
  append(rows, last) {
    if (this.#pending) return this.#pending.push({ rows, last })
    const isContiguous = this.#to >= this.last
    this.last = Math.max(this.last, last)
    const added = rows.filter(row => row.sequence > this.#to)
    if (isContiguous && this.rows.length < 2 * memoryLimit) {
      this.rows.push(...added)
      this.#to = this.last
    }
    if (this.isFollowing) {
      const extra = this.rows.length - memoryLimit
      if (extra > 0) {
        this.rows.splice(0, extra)
        this.#from = this.rows[0].sequence
      }
    } else {
      this.newer += added.length
    }
    this.#schedule()
  }

  /** The first and the last visible row. */
  get visible() {
    const start = Math.floor(this.top)
    return [this.rows[start], this.rows[Math.min(this.rows.length, start + this.#capacity) - 1]]
  }

  /** The number down to which the rows are known. */
  get searchedTo() { return this.#from }

  get isSearching() { return this.#isLoading }

  get #capacity() {
    return Math.max(1, Math.min(rowLimit, Math.floor((this.#height - this.#headHeight) / this.#rowHeight)))
  }

  get #most() { return Math.max(0, this.rows.length - this.#capacity) }

  get #isWhole() { return this.#isComplete || (this.#from <= this.first && this.#to >= this.last) }

  /** How many rows there are before the last ones that fit, as the scroll bar shows it. */
  get #virtualMost() {
    return this.#isWhole ? this.#most : Math.max(this.#most, this.last - this.first + 1 - this.#capacity)
  }

  get #scrollHeight() { return Math.min(tallest, this.#virtualMost * this.#rowHeight) }

  #measure() {
    this.#height = this.clientHeight
    const style = getComputedStyle(this)
    this.#rowHeight = parseFloat(style.getPropertyValue('--row-height')) || 24
    this.#headHeight = this.table.tHead.offsetHeight
    this.#schedule()
  }

  #pause() {
    if (!this.isFollowing) return
    this.isFollowing = false
    this.newer = 0
    this.#schedule()
  }

  async #read(query) {
    const session = this.#session
    this.#isLoading = true
    try {
      const result = await this.load(query)
      return session === this.#session ? result : null
    } catch (error) {
      if (session === this.#session) this.dispatchEvent(new CustomEvent('failed', { detail: error }))
      return null
    } finally {
      if (session === this.#session) this.#isLoading = false
    }
  }

  #replace({ rows, first, last, scanned }) {
    this.rows = rows
    this.first = first
    this.last = Math.max(this.last, last)
    this.#from = scanned?.from ?? rows[0]?.sequence ?? first
    this.#to = scanned?.to ?? rows.at(-1)?.sequence ?? last
  }

  /** Loads the rows around a number. During a load only the newest wish is kept. */
  async #jump(sequence, place) {
    this.#target = { sequence, place }
    if (this.#isLoading) return
    const result = await this.#read({ around: sequence, limit: rowLimit })
    if (!result) return
    const target = this.#target
    this.#replace(result)
    const index = this.rows.findIndex(row => row.sequence >= sequence)
    this.top = (index < 0 ? this.rows.length : index) - this.#capacity * place
    if (target && (target.sequence !== sequence || target.place !== place)) {
      this.draw()
      return this.#jump(target.sequence, target.place)
    }
    this.#target = null
    this.draw(true)
  }

  /** Loads more rows on the side where few are left. */
  async #extend() {
    if (!this.load || this.#isLoading || this.#isComplete || this.#pending) return
    const start = Math.floor(this.top)
    if (this.#from > this.first && start < margin && this.rows.length < 2 * memoryLimit) {
      const result = await this.#read({ before: this.#from, limit: rowLimit })
      if (!result) return
      const rows = result.rows.filter(row => row.sequence < this.#from)
      this.rows = rows.concat(this.rows)
      this.top += rows.length
      this.first = result.first
      // Without progress the start is reached.
      this.#from = Math.min(result.scanned?.from ?? this.first, this.#from - 1)
      if (!this.isFollowing && this.rows.length > memoryLimit && this.rows.length - start > memoryLimit) {
        this.rows.length = memoryLimit
        this.#to = this.rows.at(-1).sequence
      }
    } else if (this.#to < this.last && this.rows.length - start - this.#capacity < margin) {
      const result = await this.#read({ after: this.#to, limit: rowLimit })
      if (!result) return
      this.rows = this.rows.concat(result.rows.filter(row => row.sequence > this.#to))
      this.last = Math.max(this.last, result.last)
      this.#to = Math.max(result.scanned?.to ?? this.last, this.#to + 1)
      const extra = this.rows.length - memoryLimit
      if (extra > 0 && start > extra) {
        this.rows = this.rows.slice(extra)
        this.top -= extra
        this.#from = this.rows[0].sequence
      }
    } else {
      return
    }
    this.draw()
  }

  #schedule() {
    this.#frame ||= requestAnimationFrame(() => this.draw())
  }

  /** Shows the visible rows. */
  draw(movesBar) {
    cancelAnimationFrame(this.#frame)
    this.#frame = 0
    const hadFocus = this.body.contains(document.activeElement)
    const capacity = this.#capacity
    const most = this.#most
    this.top = this.isFollowing && this.load ? most : Math.max(0, Math.min(most, this.top))
    const start = Math.floor(this.top)
    const length = Math.min(capacity, this.rows.length - start)
    while (this.#lines.length < length) this.#addLine()
    while (this.#lines.length > length) this.#lines.pop().remove()
    for (let index = 0; index < length; index += 1) {
      this.#fill(this.#lines[index], this.rows[start + index], this.rows[start + index - 1], start + index)
    }
    if (hadFocus) this.#keepFocus()
    const total = this.#isWhole ? this.rows.length : this.isFiltered() ? -1 : this.last - this.first + 1
    if (this.table.getAttribute('aria-rowcount') !== String(total)) this.table.setAttribute('aria-rowcount', total)
    const height = `${this.#scrollHeight + this.#height}px`
    if (this.spacer.style.height !== height) this.spacer.style.setProperty('height', height)
    if (movesBar || this.isFollowing) this.#moveBar()
    this.dispatchEvent(new CustomEvent('view'))
    this.#extend()
  }

  #addLine() {
    const cells = this.columns.map(column => {
      const cell = h('td', { class: `cell-${column.name}` })
      const text = document.createTextNode('')
      if (column.href) cell.append(h('a', { 'data-row': '' }, text))
      else if (!column.draw) cell.append(text)
      return { cell, text, link: column.href ? cell.firstChild : null, column }
    })
    const line = h('tr', cells.map(({ cell }) => cell))
    Object.assign(line, { parts: cells, key: null })
    this.#lines.push(line)
    this.body.append(line)
  }

  #fill(line, row, previous, index) {
    const key = this.key(row)
    if (line.row !== row || line.previous !== previous) {
      Object.assign(line, { row, key, previous })
      const name = this.rowClass?.(row) ?? ''
      if (line.className !== name) line.className = name
      for (const { cell, text, link, column } of line.parts) {
        if (column.draw) {
          column.draw(cell, row)
          continue
        }
        const value = column.text(row, previous)
        if (text.data !== value) text.data = value
        if (cell.title) cell.removeAttribute('title')
        if (link) link.setAttribute('href', column.href(row))
        if (column.tone) {
          const tone = `cell-${column.name} ${column.tone(row)}`
          if (cell.className !== tone) cell.className = tone
        }
      }
    }
    const isCurrent = this.#selected !== null && key === this.#selected
    if (isCurrent !== line.hasAttribute('aria-current')) line.toggleAttribute('aria-current', isCurrent)
    if (isCurrent) line.setAttribute('aria-current', 'true')
    const number = this.#isWhole ? index + 1 : this.isFiltered() ? 0 : key - this.first + 1
    if (number && line.number !== number) line.setAttribute('aria-rowindex', number)
    line.number = number
  }

  /** Lines are reused for other rows, so the focus moves with its row; a row that has left gives it to the list. */
  #keepFocus() {
    if (document.activeElement?.closest('tr')?.key === this.#focusKey) return
    const line = this.#lines.find(other => other.key === this.#focusKey)
    if (line) this.#focus(line)
    else this.focus({ preventScroll: true })
  }

  #focus(line) {
    line.querySelector('[data-row]')?.focus({ preventScroll: true })
  }

  /** Moves the focus by rows. */
  move(step) {
    this.#pause()
    const start = Math.floor(this.top)
    const wanted = this.#focusKey ?? this.#selected
    const current = wanted === null ? -1 : this.rows.findIndex(row => this.key(row) === wanted)
    const isVisible = current >= start && current < start + this.#capacity
    const index = current < 0 || (!isVisible && this.#focusKey === null)
      ? step > 0 ? start : Math.min(this.rows.length, start + this.#capacity) - 1
      : Math.max(0, Math.min(this.rows.length - 1, current + step))
    if (index < 0 || !this.rows.length) return
    if (index < start) this.top = index
    else if (index >= start + this.#capacity) this.top = index - this.#capacity + 1
    this.#focusKey = this.key(this.rows[index])
    this.draw(true)
    const line = this.#lines[index - Math.floor(this.top)]
    if (line) this.#focus(line)
  }

  #keyed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const page = Math.max(1, this.#capacity - 1)
    const isOnRow = this.#focusKey !== null && this.body.contains(document.activeElement)
    const moves = {
      ArrowDown: () => this.move(1), ArrowUp: () => this.move(-1), Home: () => this.toStart(), End: () => this.toEnd(),
      PageDown: () => isOnRow ? this.move(page) : this.#scrollBy(page),
      PageUp: () => isOnRow ? this.move(-page) : this.#scrollBy(-page),
    }
    if (!moves[event.key]) return
    event.preventDefault()
    if (isOnRow && (event.key === 'Home' || event.key === 'End')) this.focus({ preventScroll: true })
    moves[event.key]()
  }

  #scrollBy(rows) {
    if (rows < 0) this.#pause()
    this.top = Math.max(0, Math.min(this.#most, this.top + rows))
    this.#settle()
    this.draw(true)
  }

  #scrolled() {
    const place = this.scrollTop
    const moved = place - this.#scrollTop
    if (Math.abs(moved) < 1) return
    this.#scrollTop = place
    if (Math.abs(moved) <= 3 * this.#height || this.#isWhole) {
      if (moved < 0) this.#pause()
      const exact = this.#isWhole && this.#scrollHeight < tallest
      this.top = exact ? place / this.#rowHeight : this.top + moved / this.#rowHeight
      if (this.#isWhole && !exact) this.top = place / this.#scrollHeight * this.#most
      this.#settle()
      // At an edge of the bar there may still be rows.
      if (place <= 1 || place >= this.#scrollHeight - 1) return this.draw(true)
    } else {
      this.#scrollFar(place / this.#scrollHeight)
    }
    this.#schedule()
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => this.#moveBar(), 150)
  }

  /** Follows when the end of the list is reached. */
  #settle() {
    this.top = Math.max(0, Math.min(this.#most, this.top))
    const isAtEnd = this.top >= this.#most - 0.5 && (this.#isComplete || this.#to >= this.last)
    if (isAtEnd && this.load && !this.isFollowing) {
      this.isFollowing = true
      this.newer = 0
    }
  }

  #scrollFar(share) {
    if (share > 0.9999) return this.toEnd()
    this.#pause()
    const sequence = Math.round(this.first + share * this.#virtualMost)
    const index = sequence - this.#from
    if (!this.isFiltered() && sequence >= this.#from && sequence + this.#capacity <= this.#to) this.top = index
    else this.#jump(sequence, 0)
  }

  /** Puts the thumb of the scroll bar to the place of the visible rows. */
  #moveBar() {
    const height = this.#scrollHeight
    let share = this.#most ? this.top / this.#most : 1
    if (!this.#isWhole) {
      const start = Math.floor(this.top)
      const sequence = (this.rows[start]?.sequence ?? this.#from) + (this.top - start)
      share = (sequence - this.first) / Math.max(1, this.#virtualMost)
      if (this.isFollowing) share = 1
      // Only at an end of the list the thumb is at an end of the bar, so that one can always scroll on.
      else if (height > 20) share = Math.max(this.#from <= this.first && this.top === 0 ? 0 : 2 / height, Math.min(1 - 2 / height, share))
    }
    const place = Math.round(Math.max(0, Math.min(1, share)) * height)
    if (Math.abs(place - this.#scrollTop) < 1) return
    this.scrollTop = place
    this.#scrollTop = place
  }
}

customElements.define('windowed-table', WindowedTable)
