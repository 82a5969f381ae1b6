// SPDX-License-Identifier: Apache-2.0
// `<filter-field>`: an expression of the language of `widgetlab tail --where`, with completion. Sends `apply`.

import {h, show} from './dom.js'
import {state} from './api.js'

const token = /"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|&&|\|\||[=!<>]=|[&|=!<>()]|[^\s&|=!<>()"']+/g

export const quotedValue = text => /^[^\s&|=!<>()"'\\]+$/.test(text) ? text : `"${text.replaceAll('"', '\\"')}"`

/** What may follow at a place of an expression, and where it goes: `{from, items: [{text, meaning}]}`. */
export function completions(text, caret) {
	const before = [...text.slice(0, caret).matchAll(token)].map(match => ({text: match[0], from: match.index}))
	const last = before.at(-1)
	const isInWord = last && last.from + last.text.length === caret && !/^[&|=!<>()]/.test(last.text)
	const from = isInWord ? before.pop().from : caret
	const typed = text.slice(from, caret).replace(/^["']/, '').toLowerCase()
	const rank = item => item.text.toLowerCase().replace(/^"/, '').indexOf(typed)
	return {from, items: candidates(before.map(each => each.text)).filter(item => rank(item) >= 0 && item.text.toLowerCase() !== typed)
		.sort((a, b) => Math.min(rank(a), 1) - Math.min(rank(b), 1)).slice(0, 60)}
}

const isRelation = text => /^([=!<>]=|[<>])$/.test(text)

function candidates(before) {
	const [previous, last] = [before.at(-2), before.at(-1)]
	const field = name => state.fields.find(each => each.name === name)
	if (isRelation(last)) return values(field(previous))
	if (last === ')' || (last && isRelation(previous))) return [{text: '&&', meaning: 'and'}, {text: '||', meaning: 'or'}]
	if (last && !/^(&&|\|\||!|\()$/.test(last)) {
		const {shape} = field(last) ?? {}
		return !shape ? [] : state.operators.filter(text => isRelation(text) && (shape === 'number' || shape === 'time' || /^[=!]=/.test(text))).map(text => ({text}))
	}
	return state.fields.map(({name, meaning}) => ({text: name, meaning}))
}

function values({name, shape} = {}) {
	const texts = name === 'kind' ? state.kinds : shape === 'address' ? state.addresses : name === 'mark' ? ['launch', 'exit', 'refused'] : shape === 'time' ? ['1m', '5m', '1h'] : []
	return texts.map(text => ({text: quotedValue(text)}))
}

class FilterField extends HTMLElement {
	#items = []
	#from = 0
	#active = -1

	connectedCallback() {
		if (this.input) return
		this.input = h('input', {
			id: 'filter', role: 'combobox', 'aria-expanded': 'false', 'aria-controls': 'filter-list', 'aria-autocomplete': 'list', 'aria-describedby': 'filter-error',
			autocomplete: 'off', spellcheck: 'false', 'data-filter': '', placeholder: 'such as: kind == transfer.* && from == extension',
			oninput: () => this.#suggest(), onclick: () => this.#suggest(), onkeydown: event => this.#keyed(event), onblur: () => this.#draw([]),
		})
		// A press on a completion leaves the focus in the field.
		this.list = h('ul', {id: 'filter-list', role: 'listbox', 'aria-label': 'Completions', hidden: true, onpointerdown: event => event.preventDefault()})
		this.error = h('p.bad', {id: 'filter-error'})
		this.replaceChildren(h('label', {for: 'filter'}, 'Filter'), h('div.box', this.input,
			h('button.clear.quiet', {'aria-label': 'Clear the filter', onclick: () => this.#apply('')}, '×'), this.list), this.error)
	}

	set value(text) {this.input.value = text}

	/** An error of the server, which is selected at its place. */
	set failure(error) {
		const {what, place, advice} = error ?? {}
		this.input.setAttribute('aria-invalid', String(Boolean(error)))
		show(this.error, error && [h('strong', what), place && ` at character ${place.from + 1}`, advice && `: ${advice}`])
		if (place) this.input.setSelectionRange(place.from, place.to)
	}

	#apply(text) {
		this.value = text
		this.#draw([])
		this.input.focus()
		this.dispatchEvent(new CustomEvent('apply', {detail: text.trim()}))
	}

	#suggest() {
		const {from, items} = completions(this.input.value, this.input.selectionStart)
		this.#from = from
		this.#draw(items)
	}

	#draw(items, active = -1) {
		this.#items = items
		this.#active = active
		this.list.hidden = !items.length
		this.input.setAttribute('aria-expanded', String(items.length > 0))
		this.input.setAttribute('aria-activedescendant', active < 0 ? '' : `option-${active}`)
		show(this.list, items.map((item, index) => h('li', {id: `option-${index}`, role: 'option', 'aria-selected': String(index === active), onclick: () => this.#accept(item)},
			h('code', item.text), item.meaning && h('span.dim', item.meaning))))
		this.list.children[active]?.scrollIntoView({block: 'nearest'})
	}

	#accept(item) {
		const {value, selectionStart} = this.input
		const text = `${value.slice(0, this.#from)}${item.text} `
		this.value = text + value.slice(selectionStart).replace(/^[^\s&|=!<>()"']*\s*/, '')
		this.input.setSelectionRange(text.length, text.length)
		this.#suggest()
	}

	#keyed(event) {
		const items = this.#items
		const step = {ArrowDown: 1, ArrowUp: -1}[event.key]
		if (step && items.length) this.#draw(items, (Math.max(this.#active, step < 0 ? 0 : -1) + step + items.length) % items.length)
		else if (step) this.#suggest()
		else if (this.#active >= 0 && (event.key === 'Enter' || event.key === 'Tab')) this.#accept(items[this.#active])
		else if (event.key === 'Enter') this.#apply(this.input.value)
		else if (event.key === 'Escape' && items.length) this.#draw([])
		else return
		event.preventDefault()
	}
}

customElements.define('filter-field', FilterField)
