// SPDX-License-Identifier: Apache-2.0
// The frame of the console: session, addresses, live updates, keys and color scheme. A page is a class with `topics`,
// `enter(url)`, `refresh(topics)` and `view()`, and for some `mounted()`, `leave()` and `close()`.

import {announce, byId, copy, facts, failed, h, kbd, list, pill, show} from './dom.js'
import {drawLine, live, offered, press, readState, startSession, state} from './api.js'
import {Budget} from './budget.js'
import {Bus} from './bus.js'
import {Processes} from './processes.js'
import {Pushes} from './pushes.js'
import {Screen} from './screen.js'
import {Traces} from './traces.js'

const pages = [
	{path: 'screen', title: 'Screen', key: 's', type: Screen},
	{path: 'processes', title: 'Processes', key: 'p', type: Processes},
	{path: 'traces', title: 'Traces', key: 't', type: Traces},
	{path: 'bus', title: 'Bus', key: 'b', type: Bus},
	{path: 'budget', title: 'Budget and time', key: 'c', type: Budget},
	{path: 'pushes', title: 'Pushes and diagnoses', key: 'd', type: Pushes},
]

const main = byId('main')
// A row of a list, and what gets the focus in it.
const [row, handle] = ['tbody tr, .card', 'a, button']
let page = null
let entry = null
let outage = null

function go(href) {
	const url = new URL(href, location.href)
	if (url.href !== location.href) history.pushState(null, '', url)
	enter()
}

async function enter() {
	// A link with a token was opened in the same tab.
	if (location.hash.startsWith('#token=')) return location.reload()
	const url = new URL(location.href)
	const next = pages.find(({path}) => path === (url.pathname.split('/')[1] || 'screen'))
	const isNew = next !== entry || !next
	if (isNew) {
		page?.leave?.()
		const isFirst = !entry
		entry = next
		page = next ? new next.type({go, render}) : null
		drawHeader()
		main.dataset.page = next?.path
		main.replaceChildren(next ? h('p', 'Loading…') : h('div.page', h('h1', 'No such page')))
		if (!next) return
		if (next.type !== Bus) live.open({})
		if (!isFirst) main.focus({preventScroll: true})
	}
	const current = page
	try {
		await current.enter(url)
		current.isLoaded = true
	} catch (error) {
		current.failure = error
	}
	if (current !== page) return
	render()
	document.title = `${page.title ?? entry.title} · WidgetLab`
	if (isNew && url.hash) byId(url.hash.slice(1))?.scrollIntoView()
}

addEventListener('popstate', enter)
document.addEventListener('click', event => {
	const anchor = event.target.closest?.('a[href]')
	if (!anchor || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return
	event.preventDefault()
	if (anchor.hash) main.focus()
	else go(anchor.href)
})

function render() {
	if (!page) return
	const focused = document.activeElement
	const {key} = focused?.closest(row)?.dataset ?? {}
	const isShown = page.isLoaded
	show(main, h('div.page', {'data-key': entry.path}, isShown ? page.view() : failureView(page.failure, entry.title)))
	if (isShown) page.mounted?.()
	// The element with the focus may have left the page, such as the button that killed a process.
	if (!focused || focused.isConnected) return
	const same = [...main.querySelectorAll(row)].find(({dataset}) => key && dataset.key === key)
	;(same?.querySelector(handle) ?? main).focus({preventScroll: true})
}

const failureView = (error, title) => [h('h1', title), failed(error), error?.where && h('p.dim', error.where)]

function drawHeader() {
	show(byId('nav'), h('ul', pages.map(each => h('li', h('a', {
		href: `/${each.path}`, 'aria-current': each === entry && 'page', title: `${each.title} (g ${each.key})`,
	}, each.title)))))
	const {analysis, device, instance, isReadOnly, readOnlyReason} = state
	show(byId('facts'), analysis?.isComplete === false && pill(`analyzed to #${analysis.sequence}`), isReadOnly && pill('read-only', 'warn', {title: readOnlyReason}),
		h('span.fact', {title: instance}, [instance?.split('/').at(-1), device && `${device.model}, ${device.systemVersion}`].filter(Boolean).join(' · ')))
}

function drawBanner() {
	const up = name => [`The ${name} is not reachable.`, 'The journal is shown, and actions fail until it is back. To start it: ', 'widgetlab up']
	const text = outage ? outage.status === 401 ? ['This page has no session.', 'Open the link with the token, which is printed by ', 'widgetlab console']
		: ['The console is not reachable.', 'The page shows what it had, and connects again by itself. To start it: ', 'widgetlab console']
		: state.isReadOnly ? null : state.isBusConnected === false ? up('bus') : state.isHostConnected === false ? up('host') : null
	byId('banner').hidden = !text
	show(byId('banner'), text && h('p', h('strong', text[0]), ' ', text[1], h('code', text[2])))
}

// Live updates: at most forty a second

const wanted = new Set()
let isRefreshing = false
let refreshedAt = 0
let timer = 0

async function refresh(topics, isUrgent) {
	for (const topic of topics) wanted.add(topic)
	if (isRefreshing || !wanted.size) return
	clearTimeout(timer)
	const pause = refreshedAt + 25 - performance.now()
	if (pause > 0 && !isUrgent) {
		timer = setTimeout(refresh, pause, [])
		return
	}
	isRefreshing = true
	const current = new Set(wanted)
	wanted.clear()
	try {
		if (current.has('state')) {
			await readState()
			drawHeader()
			drawBanner()
			drawLine()
		}
		const target = page
		if (target?.topics.some(topic => current.has(topic))) {
			await target.refresh(current)
			target.isLoaded = true
			if (target === page) render()
		}
	} catch (error) {
		if (error.status === undefined) console.error(error)
		if (error.status === 401) closed(error)
	} finally {
		isRefreshing = false
		refreshedAt = performance.now()
	}
	refresh([])
}

const refreshAll = () => refresh(['state', ...page?.topics ?? []], true)

function closed(error) {
	if (!error) return
	outage = error
	main.classList.add('stale')
	drawBanner()
}

live.addEventListener('changed', ({detail}) => refresh(detail.topics))
live.addEventListener('closed', ({detail}) => closed(detail))
live.addEventListener('resumed', refreshAll)
live.addEventListener('open', () => {
	if (!outage) return
	outage = null
	main.classList.remove('stale')
	announce('Connected again.')
	page?.recover?.()
	drawBanner()
	refreshAll()
})
document.addEventListener('performed', () => refresh(page?.topics ?? [], true))
addEventListener('resize', () => requestAnimationFrame(render))
let seconds = 0
setInterval(() => {
	if (document.hidden || !page?.ticks) return
	render()
	if (++seconds % 5 === 0) refresh(page.ticks)
}, 1000)

const themes = {auto: '◐', dark: '●', light: '○'}

function setTheme(name) {
	const {dataset} = document.documentElement
	if (name === 'auto') delete dataset.theme
	else dataset.theme = name
	localStorage.setItem('theme', name === 'auto' ? '' : name)
	const title = `Color scheme: ${name}`
	Object.assign(byId('theme'), {textContent: themes[name], title, ariaLabel: title, onclick: () => {
		const names = Object.keys(themes)
		setTheme(names[(names.indexOf(name) + 1) % 3])
		announce(byId('theme').title)
	}})
}

const keyList = {
	Pages: Object.fromEntries(pages.map(({key, title}) => [`g ${key}`, title])),
	Lists: {j: 'Next row', k: 'Previous row', Enter: 'Open the row', '/': 'Filter', PageUp: 'Scroll by a page, or PageDown', Home: 'The oldest', End: 'The newest, and follow', Esc: 'Close; leave the filter'},
	'Actions on the row with the focus': {x: 'Kill the process; remove the widget (twice)', z: 'Stop or continue the process', t: 'Tap the widget', r: 'Reload it', p: 'Push to it'},
	Everywhere: {c: 'Copy the command at the bottom', m: 'Copy the trace as Mermaid', '?': 'This list'},
}

function showKeys() {
	const dialog = h('dialog', {'aria-labelledby': 'keys-title'},
		h('div.headline', h('h2', {id: 'keys-title'}, 'Keys'), h('button', {onclick: () => dialog.close()}, 'Close')),
		h('div.columns', Object.entries(keyList).map(([title, rows]) => h('section', h('h3', title), facts(Object.entries(rows).map(([keys, text]) => [kbd(...keys.split(' ')), text]))))),
		h('label.check', h('input', {type: 'checkbox', checked: !localStorage.getItem('keysOff'), onchange: ({target}) => localStorage.setItem('keysOff', target.checked ? '' : 'yes')}), 'Single keys are on'))
	dialog.addEventListener('close', () => dialog.remove())
	document.body.append(dialog)
	dialog.showModal()
}

function moveRow(step) {
	if (list()) return list().move(step)
	const rows = [...main.querySelectorAll(row)].map(each => each.querySelector(handle)).filter(each => each?.offsetParent)
	const current = rows.indexOf(document.activeElement.closest(row)?.querySelector(handle))
	const next = rows[current < 0 ? step > 0 ? 0 : rows.length - 1 : Math.max(0, Math.min(rows.length - 1, current + step))]
	next?.focus()
	next?.scrollIntoView({block: 'nearest'})
}

const commands = {
	j: () => moveRow(1),
	k: () => moveRow(-1),
	c: () => offered() && copy(offered()),
	m: () => main.querySelector('[data-mermaid]')?.click(),
	'?': showKeys,
	'/': () => main.querySelector('[data-filter]')?.focus(),
}
let hasPrefix = false

document.addEventListener('keydown', event => {
	if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return
	const {key, target} = event
	const isTyping = target.closest?.('input, textarea, select')
	if (key === 'Escape') {
		if (isTyping) target.blur()
		else page?.close?.()
	}
	if (isTyping || localStorage.getItem('keysOff')) return
	const next = hasPrefix && pages.find(each => each.key === key)
	const button = target.closest?.(row)?.querySelector(`[data-hotkey="${CSS.escape(key)}"]`)
	hasPrefix = key === 'g'
	if (!next && !button && !commands[key]) return
	event.preventDefault()
	if (next) go(`/${next.path}`)
	else if (button) press(button)
	else commands[key]()
})

byId('keys').onclick = showKeys
setTheme(document.documentElement.dataset.theme ?? 'auto')
drawHeader()
try {
	await startSession()
	await readState()
	if (location.pathname === '/') history.replaceState(null, '', '/screen')
	drawBanner()
	drawLine()
	enter()
} catch (error) {
	outage = error
	drawBanner()
	show(main, h('div.page', failureView(error, error.status === 401 ? 'No session' : 'Not reachable')))
	if (error.status !== 401) setTimeout(() => location.reload(), 2000)
}
