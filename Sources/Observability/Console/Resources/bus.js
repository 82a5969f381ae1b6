// SPDX-License-Identifier: Apache-2.0
// The page "Bus": every message, live, with a filter; and one message with its body, cause and effects.

import './table.js'
import './filter.js'
import { copyButton, equivalent, h } from './dom.js'
import { commandLine, get, live, state } from './api.js'
import { bytes, clock, count, duration, iso, role } from './format.js'
import { quotedValue } from './filter.js'

const marks = { launch: '▲', exit: '✕', refused: '⊘' }

export class Bus {
  isStreaming = true
  topics = []
  where = ''
  sequence = null
  message = null
  error = null

  constructor(app) {
    this.app = app
    this.onRows = event => this.table?.append(event.detail.rows, event.detail.last)
    this.onOpen = () => {
      if (this.isStale && this.table) this.restart()
      this.isStale = false
    }
    // A hidden tab misses rows; then the newest are read again.
    this.onResumed = () => { if (this.table?.isFollowing) this.restart() }
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
    const isOther = where !== this.where
    this.where = where
    const wasOpen = this.sequence
    this.sequence = sequence
    this.title = sequence ? `Message ${sequence} · Bus` : 'Bus'
    if (this.table) {
      if (isOther) await this.restart(sequence)
      this.table.selected = sequence
    }
    if (sequence !== wasOpen || !this.message) await this.#read(sequence)
    if (sequence && sequence !== wasOpen) this.focusesMessage = true
    if (!sequence && wasOpen) this.table?.focus({ preventScroll: true })
  }

  async #read(sequence) {
    this.message = null
    this.messageError = null
    if (!sequence) return
    try {
      const message = await get(`/api/messages/${sequence}`)
      if (sequence === this.sequence) this.message = message
    } catch (error) {
      this.messageError = error
    }
  }

  async refresh() {}

  /** Called after the page was drawn for the first time, when its components exist. */
  mounted() {
    const main = document.getElementById('main')
    if (this.focusesMessage) {
      this.focusesMessage = false
      main.querySelector('.detail h2')?.focus()
    }
    if (this.table) return
    this.field = main.querySelector('filter-field')
    this.field.addEventListener('apply', event => this.app.go(this.#address(this.sequence, event.detail)))
    this.table = main.querySelector('windowed-table')
    this.table.configure({
      label: 'Messages', columns: this.#columns(), rowClass: row => row.mark ? `mark-${row.mark}` : '',
      isFiltered: () => this.where !== '',
      load: query => get('/api/messages', { ...query, where: this.where }),
    })
    this.table.addEventListener('view', () => this.#status())
    this.table.addEventListener('failed', event => this.#failed(event.detail))
    this.newer = main.querySelector('.newer')
    this.newer.onclick = () => {
      this.table.toEnd()
      this.table.focus({ preventScroll: true })
    }
    this.restart(this.sequence)
  }

  /** Reads the list for the filter from its end, or around a message. */
  async restart(sequence) {
    this.error = null
    this.field.value = this.where
    this.field.failure = null
    const result = await this.table.restart()
    if (!result) return
    live.open({ rows: true, where: this.where, after: result.last })
    this.table.selected = this.sequence
    if (sequence) await this.table.toRow(sequence)
  }

  #failed(error) {
    this.error = error
    if (error.status === 400) this.field.failure = error
    this.#status()
  }

  move(step) { this.table?.move(step) }

  close() {
    if (this.sequence) this.app.go(this.#address(null, this.where))
  }

  #address(sequence, where) {
    return `/bus${sequence ? '/' + sequence : ''}${where ? '?where=' + encodeURIComponent(where) : ''}`
  }

  #columns() {
    return [
      { name: 'sequence', label: 'Seq', text: row => String(row.sequence), href: row => this.#address(row.sequence, this.where) },
      { name: 'time', label: 'Time', text: row => clock(row.time) },
      { name: 'delta', label: 'Δ', text: (row, previous) => previous ? delta(row.time - previous.time) : '' },
      { name: 'from', label: 'From', text: row => named(row.from, row.fromGeneration), tone: row => role(row.from) },
      { name: 'to', label: 'To', text: row => named(row.to, row.toGeneration), tone: row => role(row.to) },
      { name: 'kind', label: 'Kind', text: row => (row.mark ? `${marks[row.mark]} ` : '') + row.kind, tone: row => row.mark ? `tone-${row.mark}` : '' },
      { name: 'correlation', label: 'Corr', text: row => row.correlation?.slice(0, 6) ?? '' },
      { name: 'note', label: 'Note', text: row => row.note + (row.attempt && !/\(sent again/.test(row.note) ? ` (attempt ${row.attempt + 1})` : '') },
    ]
  }

  /** The line above the list, which is updated with each row and so apart from the rest of the page. */
  #status() {
    const { table } = this
    const [first, last] = table.visible
    const pill = document.getElementById('bus-state')
    if (!pill) return
    const text = this.error ? 'Error' : state.isReadOnly ? 'Journal' : table.isFollowing ? 'Live' : 'Paused'
    if (pill.textContent !== text) pill.textContent = text
    pill.className = `pill ${{ Live: 'good', Paused: 'warn', Error: 'bad', Journal: '' }[text]}`
    const range = first ? `${count(first.sequence)} – ${count(last.sequence)} of ${count(table.last)}` : ''
    const isWanting = this.where && table.isSearching && table.rows.length < 200
    document.getElementById('bus-range').textContent = range + (isWanting ? `, searching back to ${count(table.searchedTo)} …` : '')
    const isHidden = table.isFollowing
    if (this.newer.hidden !== isHidden) this.newer.hidden = isHidden
    const label = table.newer ? `↓ ${count(table.newer)} new` : '↓ To the newest'
    if (this.newer.textContent !== label) this.newer.textContent = label
    const none = document.getElementById('bus-empty')
    none.hidden = Boolean(table.rows.length) || table.isSearching || Boolean(this.error && this.error.status === 400)
    if (!none.hidden) {
      none.textContent = this.error ? `${this.error.what}. ${this.error.advice ?? ''}` : this.where ? 'No message matches the filter. New ones appear here when they match.'
        : 'The journal is empty: start a cluster with `widgetlab up`.'
    }
  }

  view() {
    const line = commandLine(this.where ? ['tail', '--where', this.where] : ['tail'])
    return [
      h('div.pagehead', h('h1', 'Bus'),
        h('span', { id: 'bus-state', class: 'pill', 'data-own': '' }), h('span', { id: 'bus-range', class: 'range', 'data-own': '' }),
        equivalent(line)),
      h('filter-field', { 'data-own': '' }),
      h('div', { class: this.sequence ? 'split has-detail' : 'split' },
        h('div.list',
          h('windowed-table', { class: 'bus', 'data-own': '' }),
          h('p', { id: 'bus-empty', class: 'empty', hidden: true, 'data-own': '' }),
          h('button', { class: 'newer', hidden: true, 'data-own': '' })),
        this.sequence && this.#detail()),
    ]
  }

  #detail() {
    const { message } = this
    return h('aside.detail', { 'data-key': 'detail', 'aria-labelledby': 'message-title' },
      h('div.headline', h('h2', { id: 'message-title', tabindex: '-1' }, `Message ${count(this.sequence)}`),
        h('button', { class: 'quiet', title: 'Close (Escape)', onclick: () => this.close() }, 'Close')),
      this.messageError && h('p.bad', `${this.messageError.what}. ${this.messageError.advice ?? ''}`),
      message && this.#facts(message), message && this.#body(message))
  }

  #facts({ row, id, causeRow, effects, correlation, trace, size }) {
    const filter = (text, name, value = text) => h('a', { href: this.#address(null, `${name} == ${quotedValue(value)}`), title: `Show only ${name} == ${value}` }, text)
    const party = (name, generation) => [h('span', { class: role(name) }, filter(name, 'address', name.replace('/…', '/*'))), generation ? ` generation ${generation}` : '']
    const item = (term, ...content) => h('div', h('dt', term), h('dd', content))
    return h('dl.pairs',
      item('Kind', filter(row.kind, 'kind'), row.mark && ` ${marks[row.mark]} ${row.mark}`),
      item('From', party(row.from, row.fromGeneration)),
      item('To', party(row.to, row.toGeneration)),
      item('Sent', h('time', { datetime: iso(row.time), title: iso(row.time) }, clock(row.time)), row.attempt ? `, attempt ${row.attempt + 1}` : ''),
      row.note && item('Note', row.note),
      correlation && item('Correlation', filter(correlation, 'correlation', correlation.replaceAll('-', ''))),
      trace && item('Trace', h('a', { href: `/traces/${trace}` }, 'All steps of this operation')),
      causeRow && item('Cause', this.#reference(causeRow)),
      effects?.length ? item(effects.length === 1 ? 'Effect' : `${effects.length} effects`,
        h('ul', effects.slice(0, 50).map(effect => h('li', this.#reference(effect))))) : null,
      item('Id', h('code', id)),
      item('Size', bytes(size)))
  }

  #reference(row) {
    return [h('a', { href: this.#address(row.sequence, this.where) }, `#${row.sequence}`), ' ', h('code', row.kind), row.note ? ` ${row.note}` : '']
  }

  #body({ row, body, bodyText }) {
    const text = bodyText ?? JSON.stringify(body, null, 2) ?? ''
    const limit = 20000
    const isLong = text.length > limit && this.shownWhole !== row.sequence
    const line = commandLine(['tail', '--where', `sequence == ${row.sequence}`, '--output', 'json'])
    return [
      h('div.headline', h('h3', 'Body'), copyButton(text, 'Copy body')),
      text === '' ? h('p.dim', 'This message has no body.')
        : h('pre.body', { tabindex: '0', 'aria-label': 'Body of the message' }, bodyText === undefined || bodyText === null
          ? colored(isLong ? text.slice(0, limit) : text) : isLong ? text.slice(0, limit) : text),
      isLong && h('button', { class: 'quiet', onclick: () => {
        this.shownWhole = row.sequence
        this.app.render()
      } }, `Show all ${bytes(text.length)}`),
      equivalent(line),
    ]
  }
}

const named = (name, generation) => generation ? `${name} ${generation}` : name

const delta = seconds => `${seconds < 0 ? '−' : '+'}${Math.abs(seconds) < 10 ? Math.abs(seconds).toFixed(3) : duration(Math.abs(seconds))}`

/** The parts of JSON, so that names, texts and numbers differ in color. */
function colored(text) {
  const parts = []
  let at = 0
  for (const match of text.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\b\d[\d.eE+-]*/g)) {
    if (match.index > at) parts.push(text.slice(at, match.index))
    const kind = match[2] ? 'name' : match[1] ? 'text' : 'number'
    parts.push(h('span', { class: `json-${kind}` }, match[1] ?? match[0]))
    if (match[2]) parts.push(match[2])
    at = match.index + match[0].length
  }
  parts.push(text.slice(at))
  return parts
}
