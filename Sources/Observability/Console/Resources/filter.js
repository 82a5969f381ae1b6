// SPDX-License-Identifier: Apache-2.0
// `<filter-field>`: an expression of the language of `widgetlab tail --where`, with completion. Sends `apply`.

import { h, show } from './dom.js'
import { state } from './api.js'

const symbols = ['&&', '||', '==', '!=', '<=', '>=', '<', '>', '!', '(', ')', '=', '&', '|']

/** The tokens of an expression, with their places. */
export function tokens(text) {
  const found = []
  let at = 0
  while (at < text.length) {
    if (/\s/.test(text[at])) {
      at += 1
      continue
    }
    const from = at
    const symbol = symbols.find(each => text.startsWith(each, at))
    if (text[at] === '"' || text[at] === "'") {
      const mark = text[at]
      at += 1
      while (at < text.length && text[at] !== mark) at += text[at] === '\\' ? 2 : 1
      at = Math.min(text.length, at + 1)
      found.push({ type: 'value', text: text.slice(from + 1, at), from, to: at })
    } else if (symbol) {
      at += symbol.length
      found.push({ type: 'symbol', text: symbol, from, to: at })
    } else {
      while (at < text.length && !/[\s&|=!<>()"']/.test(text[at])) at += 1
      found.push({ type: 'word', text: text.slice(from, at), from, to: at })
    }
  }
  return found
}

/** A value of an expression, in quotes when that is necessary. */
export const quotedValue = text => /^[^\s&|=!<>()"'\\]+$/.test(text) ? text : `"${text.replaceAll('"', '\\"')}"`

/** What may follow at a place of an expression: `{from, to, items: [{text, meaning}]}`. */
export function completions(text, caret) {
  const before = tokens(text.slice(0, caret))
  const current = before.at(-1)
  const isInWord = current && current.to === caret && current.type !== 'symbol'
  const from = isInWord ? current.from : caret
  const typed = isInWord ? text.slice(from, caret).replace(/^["']/, '').toLowerCase() : ''
  const context = isInWord ? before.slice(0, -1) : before
  let items = candidates(context)
  if (isInWord && context.at(-1)?.type !== 'symbol' && context.length && current.type === 'word') items = []
  const matching = items.filter(item => item.text.toLowerCase().includes(typed) && item.text.toLowerCase() !== typed)
  matching.sort((a, b) => !a.text.toLowerCase().startsWith(typed) - !b.text.toLowerCase().startsWith(typed))
  return { from, to: caret, items: matching }
}

/** What may follow after some tokens. */
function candidates(before) {
  const last = before.at(-1)
  const previous = before.at(-2)
  const fields = state.fields ?? []
  const field = token => token?.type === 'word' ? fields.find(each => each.name === token.text) : null
  const isRelation = token => token?.type === 'symbol' && state.operators.includes(token.text) && !/^(&&|\|\||!|\(|\))$/.test(token.text)
  if (isRelation(last)) return values(field(previous))
  if (last && (last.type === 'value' || (last.type === 'word' && isRelation(previous)) || last.text === ')')) {
    return [{ text: '&&', meaning: 'and' }, { text: '||', meaning: 'or' }]
  }
  if (field(last)) {
    const hasOrder = ['number', 'time'].includes(field(last).shape)
    return state.operators.filter(text => /^[=!<>]+$/.test(text) && text !== '!' && (hasOrder || /^[=!]=$/.test(text)))
      .map(text => ({ text, meaning: { '==': 'equals', '!=': 'differs from' }[text] ?? '' }))
  }
  if (last?.type === 'word') return []
  return fields.map(each => ({ text: each.name, meaning: each.meaning }))
}

function values(field) {
  if (!field) return []
  const texts = field.name === 'kind' ? state.kinds : field.shape === 'address' ? state.addresses
    : field.name === 'mark' ? ['launch', 'exit', 'refused'] : field.shape === 'time' ? ['1m', '5m', '1h'] : []
  return texts.map(text => ({ text: quotedValue(text), meaning: field.shape === 'time' ? `${text} ago` : '' }))
}

class FilterField extends HTMLElement {
  #items = []
  #active = -1
  #place = null

  connectedCallback() {
    if (this.input) return
    this.input = h('input', {
      id: 'filter', type: 'text', role: 'combobox', 'aria-expanded': 'false', 'aria-controls': 'filter-list',
      'aria-autocomplete': 'list', 'aria-describedby': 'filter-error', autocomplete: 'off', spellcheck: 'false',
      autocapitalize: 'off', 'data-filter': '', placeholder: "kind == transfer.* && from == extension",
      oninput: () => this.#suggest(), onkeydown: event => this.#keyed(event), onclick: () => this.#suggest(),
    })
    this.input.addEventListener('blur', () => this.#close())
    this.input.addEventListener('scroll', () => this.#mark())
    this.list = h('ul', { id: 'filter-list', role: 'listbox', 'aria-label': 'Completions', hidden: true })
    this.squiggle = h('span.squiggle', { hidden: true, 'aria-hidden': 'true' })
    this.error = h('p', { id: 'filter-error', class: 'filter-error', hidden: true })
    this.replaceChildren(
      h('label', { for: 'filter' }, 'Filter'),
      h('div.box', this.input, this.squiggle,
        h('button', { class: 'clear', 'aria-label': 'Clear the filter', onclick: () => this.#apply('') }, '×'), this.list),
      this.error)
  }

  set value(text) {
    if (this.input.value !== text) this.input.value = text
    this.classList.toggle('is-set', text !== '')
  }

  get value() { return this.input.value }

  /** Shows an error of the server at its place, or removes it. */
  set failure(error) {
    this.#place = error?.place ?? null
    this.input.setAttribute('aria-invalid', String(Boolean(error)))
    this.error.hidden = !error
    show(this.error, error && [h('strong', error.what), error.place && ` at character ${error.place.from + 1}`, error.advice && ` – ${error.advice}`])
    this.#mark()
  }

  #mark() {
    const { squiggle, input } = this
    squiggle.hidden = !this.#place
    if (!this.#place) return
    squiggle.style.setProperty('--from', this.#place.from)
    squiggle.style.setProperty('--length', Math.max(1, this.#place.to - this.#place.from))
    squiggle.style.setProperty('--scrolled', `${input.scrollLeft}px`)
  }

  #apply(text) {
    this.value = text
    this.#close()
    this.dispatchEvent(new CustomEvent('apply', { detail: text.trim() }))
    this.input.focus()
  }

  #suggest() {
    this.#place = null
    this.#mark()
    const { items, from, to } = completions(this.input.value, this.input.selectionStart ?? 0)
    this.#items = items.slice(0, 60).map(item => ({ ...item, from, to }))
    this.#active = -1
    this.#draw()
  }

  #close() {
    this.#items = []
    this.#draw()
  }

  #draw() {
    const isOpen = this.#items.length > 0
    this.list.hidden = !isOpen
    this.input.setAttribute('aria-expanded', String(isOpen))
    if (this.#active >= 0) this.input.setAttribute('aria-activedescendant', `option-${this.#active}`)
    else this.input.removeAttribute('aria-activedescendant')
    show(this.list, this.#items.map((item, index) => h('li', {
      id: `option-${index}`, role: 'option', 'aria-selected': String(index === this.#active), 'data-key': item.text,
      // A press would take the focus from the input.
      onclick: () => this.#accept(item), onpointerenter: null,
    }, h('code', item.text), item.meaning && h('span', item.meaning))))
    this.list.onpointerdown = event => event.preventDefault()
    this.list.children[this.#active]?.scrollIntoView({ block: 'nearest' })
  }

  #accept(item) {
    const { value } = this.input
    const rest = value.slice(item.to).replace(/^[^\s&|=!<>()"']*/, '')
    const text = value.slice(0, item.from) + item.text + ' '
    this.input.value = text + rest.trimStart()
    this.input.focus()
    this.input.setSelectionRange(text.length, text.length)
    this.#suggest()
  }

  #keyed(event) {
    const { length } = this.#items
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step) {
      if (!length) return this.#suggest()
      this.#active = this.#active < 0 && step < 0 ? length - 1 : (this.#active + step + length) % length
      this.#draw()
    } else if (event.key === 'Enter') {
      if (this.#active >= 0) this.#accept(this.#items[this.#active])
      else this.#apply(this.input.value)
    } else if (event.key === 'Tab' && this.#active >= 0) {
      this.#accept(this.#items[this.#active])
    } else if (event.key === 'Escape' && length) {
      this.#close()
      event.stopPropagation()
    } else {
      return
    }
    event.preventDefault()
  }
}

customElements.define('filter-field', FilterField)
