// SPDX-License-Identifier: Apache-2.0
// Creates elements, and updates the page in place, so that a live update keeps the focus and what the user has typed.
// Texts become text nodes: no text is ever parsed as markup.

/** Creates an element from a name with classes (`p.dim`), optional attributes, and children without null and false. */
export const h = (name, ...rest) => create(tag => document.createElement(tag), name, rest)

export const s = (name, ...rest) => create(tag => document.createElementNS('http://www.w3.org/2000/svg', tag), name, rest)

function create(make, name, rest) {
	const [tag, ...classes] = name.split('.')
	const element = make(tag)
	if (classes.length) element.setAttribute('class', classes.join(' ').trim())
	if (tag === 'button') element.type = 'button'
	const attributes = rest[0]?.constructor === Object ? rest.shift() : {}
	for (const key in attributes) {
		const value = attributes[key]
		if (value === false || value == null) continue
		if (key.startsWith('on') || key === 'value' || key === 'checked') element[key] = value
		// The policy forbids style attributes, and allows the object model.
		else if (key === 'style') for (const property in value) element.style.setProperty(property, value[property])
		else element.setAttribute(key, value === true ? '' : value)
	}
	element.append(...rest.flat(9).filter(child => child !== false && child != null))
	return element
}

const listeners = ['onclick', 'oninput', 'onchange', 'onsubmit', 'onfocus']
const kept = new Set(['open', 'data-armed', 'style', 'tabindex'])

/** Changes an element until it equals another. Children with equal `data-key` are the same. */
function morph(from, to) {
	if (from.nodeName !== to.nodeName || from.dataset?.key !== to.dataset?.key) return from.replaceWith(to)
	if (from.nodeType !== Node.ELEMENT_NODE) {
		if (from.data !== to.data) from.data = to.data
		return
	}
	// A component updates itself, and a button that waits for its confirmation stays.
	if (from.dataset.own !== undefined || (from.dataset.armed !== undefined && from.dataset.args === to.dataset.args)) return
	for (const {name} of [...from.attributes]) if (!kept.has(name) && !to.hasAttribute(name)) from.removeAttribute(name)
	for (const {name, value} of to.attributes) if (name !== 'style' && from.getAttribute(name) !== value) from.setAttribute(name, value)
	if (from.style.cssText !== to.style.cssText) from.style.cssText = to.style.cssText
	for (const name of listeners) from[name] = to[name]
	morphChildren(from, [...to.childNodes])
}

function morphChildren(from, wanted) {
	const keys = new Set(wanted.map(node => node.dataset?.key))
	const keyed = new Map([...from.childNodes].map(node => [node.dataset?.key, node]))
	let cursor = from.firstChild
	const next = () => {
		const node = cursor
		cursor = cursor.nextSibling
		return node
	}
	for (const to of wanted) {
		const key = to.dataset?.key
		while (cursor?.dataset?.key && !keys.has(cursor.dataset.key)) next().remove()
		const match = key ? keyed.get(key) : cursor && !cursor.dataset?.key ? cursor : null
		if (!match) from.insertBefore(to, cursor)
		else {
			if (match === cursor) next()
			else from.insertBefore(match, cursor)
			morph(match, to)
		}
	}
	while (cursor) next().remove()
}

/** Changes the children of an element in place. */
export const show = (element, ...children) => morphChildren(element, [...h('div', ...children).childNodes])

export const byId = id => document.getElementById(id)

export const list = () => document.querySelector('windowed-table')

/** Tells a screen reader one sentence. */
export function announce(text) {
	const region = byId('announcer')
	// The same text again would not be announced.
	region.textContent = region.textContent === text ? text + '\u00a0' : text
}

export async function copy(text, what) {
	try {
		await navigator.clipboard.writeText(text)
	} catch {
		// Only pages of this machine have a clipboard.
		prompt('Copy:', text)
	}
	announce(`Copied: ${what ?? text}`)
}

export const copyButton = (text, label = 'Copy', attributes = {'aria-label': `Copy ${text}`}) => h('button.copy', {
	...attributes,
	onclick: async ({currentTarget: button}) => {
		await copy(text, label === 'Copy' ? text : label)
		button.classList.add('done')
	},
	onblur: ({currentTarget: button}) => button.classList.remove('done'),
}, label)

export const equivalent = (line, ...more) => h('span.equivalent', h('code', line), copyButton(line), more)

export const pagehead = (title, ...rest) => h('div.pagehead', h('h1', title), rest)

export class Page {
	constructor(app) { this.app = app }
}

export const kbd = (...keys) => keys.map(key => h('kbd', key))

export const pill = (text, tone = '', attributes = {}) => h(`span.pill.${tone}`, attributes, text)

export const section = (id, title, end, ...content) => h('section.section', {'aria-labelledby': id, 'data-key': id},
	h('div.headline', h('h2', {id, tabindex: '-1'}, title), end), content)

/** Why a list is empty, and the command that fills it. */
export const empty = (text, command) => h('div.empty', h('p', text), command && h('p', equivalent(command)))

/** A table. # ends a heading of numbers. A row has `key`, `cells`, attributes, and `more` below it. */
export function grid(label, headings, rows) {
	const number = index => /#$|^number$/.test(headings[index].className ?? headings[index]) && 'number'
	return h('div.scroller', {tabindex: '0'}, h('table', {class: 'plain', 'aria-label': label},
		h('thead', h('tr', headings.map((text, index) => text && (text.nodeType ? text : h('th', {scope: 'col', class: number(index)}, text.replace('#', '')))))),
		h('tbody', rows.flatMap(({key, cells, more, ...rest}) => [
			h('tr', {'data-key': key, ...rest}, cells.map((cell, index) => cell === false ? null
				: index ? h('td', {class: number(index)}, cell) : h('th', {scope: 'row'}, cell))),
			more && h('tr.more', {'data-key': `${key} more`}, h('td', {colspan: headings.length}, more)),
		]))))
}

export const facts = items => h('dl.pairs', items.filter(([, value]) => value).map(([name, ...value]) => h('div', h('dt', name), h('dd', value))))

export const panel = (id, title, close, ...content) => h('aside.detail', {'data-key': 'panel', 'aria-labelledby': id},
	h('div.headline', h('h2', {id, tabindex: '-1'}, title), h('button.quiet', {onclick: close}, 'Close')), content)

export const failed = error => error && h('p.bad', `${error.what ?? error.message}. `, error.advice)

export const choices = (label, items, current) => h('div.choices', {role: 'group', 'aria-label': label},
	items.map(([value, text, href]) => h('a', {href, 'aria-current': value === current && 'true'}, text)))

export const room = () => Math.max(280, byId('main').clientWidth - 56)

const {format} = new Intl.NumberFormat('en-US')
export const count = number => format(number)

export const decimal = new Intl.NumberFormat('en-US', {maximumFractionDigits: 1}).format

export const plural = (number, word, many = word + 's') => `${count(number)} ${number === 1 ? word : many}`

export const bytes = number => number < 1024 ? `${number} B` : number < 1048576 ? `${decimal(number / 1024)} KiB` : `${decimal(number / 1048576)} MiB`

/** Seconds as "12 ms", "1.25 s", "3 min 5 s", "2 h 3 min", "4 d 2 h". */
export function duration(seconds) {
	if (seconds < 0) return '−' + duration(-seconds)
	if (seconds < 0.0995) return `${Math.round(seconds * 1000)} ms`
	return seconds < 59.95 ? `${seconds.toFixed(seconds < 10 ? 2 : 1)} s` : age(seconds)
}

const units = [[86400, 'd'], [3600, 'h'], [60, 'min'], [1, 's']]

/** Whole seconds in at most two units: what ticks on the page. */
export function age(seconds) {
	const whole = Math.max(0, Math.floor(seconds + 1e-6))
	const index = Math.max(0, units.findIndex(([size]) => whole >= size))
	return units.slice(whole ? index : 3, index + 2).map(([size, unit], place) => [Math.floor((place ? whole % units[index][0] : whole) / size), unit])
		.filter(([number], place) => number || !place).map(part => part.join(' ')).join(' ')
}

export const relative = seconds => seconds >= 0 ? `in ${age(Math.ceil(seconds))}` : `${age(-seconds)} ago`

const two = number => String(number).padStart(2, '0')

/** The time of the day, in the browser's time zone: 13:05:07.250. */
export function clock(time) {
	const date = new Date(time * 1000)
	return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, '0')}`
}

/** Date and time without fractions; without the date if it is today. */
export function moment(time) {
	const date = new Date(time * 1000)
	const text = clock(time).slice(0, 8)
	return date.toDateString() === new Date().toDateString() ? text
		: `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${text}`
}

export const iso = time => new Date(time * 1000).toISOString()

// As Apple writes them.
const apple = {'stand by': 'StandBy', 'car play': 'CarPlay', 'i phone widgets on mac': 'iPhone widgets on Mac'}

/** "homeScreen" as "Home screen". */
export function words(name) {
	const text = name.replace(/([a-z])([A-Z])/g, (_, a, b) => `${a} ${b.toLowerCase()}`)
	return apple[text] ?? text[0].toUpperCase() + text.slice(1)
}

const colored = ['extension', 'host', 'app', 'agent', 'push-server', 'provider']

export function role(address) {
	const name = address.replace(/^device\/[^/]+\//, '').split('/')[0]
	return `role-${colored.includes(name) ? name : 'bus'}`
}

/** A word, quoted for a shell when that is necessary. */
export const quoted = word => /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
