// SPDX-License-Identifier: Apache-2.0
// The frame of the console: session, addresses, live updates, keys and color scheme. A page is a class with `topics`,
// `enter(url)`, `refresh(topics)` and `view()`, and for some `mounted()`, `leave()`, `close()` and `move(step)`.

import { announce, copy, h, kbd, pill, show } from './dom.js'
import { live, readState, startSession, state } from './api.js'
import { drawLine, offered, press } from './actions.js'
import { Budget } from './budget.js'
import { Bus } from './bus.js'
import { Processes } from './processes.js'
import { Pushes } from './pushes.js'
import { Screen } from './screen.js'
import { Traces } from './traces.js'

const pages = [
  { path: 'screen', title: 'Screen', key: 's', type: Screen },
  { path: 'processes', title: 'Processes', key: 'p', type: Processes },
  { path: 'traces', title: 'Traces', key: 't', type: Traces },
  { path: 'bus', title: 'Bus', key: 'b', type: Bus },
  { path: 'budget', title: 'Budget and time', key: 'c', type: Budget },
  { path: 'pushes', title: 'Pushes and diagnoses', key: 'd', type: Pushes },
]

const element = id => document.getElementById(id)
const main = element('main')
let page = null
let entry = null
/** Why the console does not answer: null, or an error. */
let outage = null

// Addresses

function go(href) {
  const url = new URL(href, location.href)
  if (url.href !== location.href) history.pushState(null, '', url)
  enter()
}

async function enter() {
  // A link with a token that is opened in the same tab.
  if (location.hash.startsWith('#token=')) return location.reload()
  const url = new URL(location.href)
  const next = pages.find(({ path }) => path === (url.pathname.split('/')[1] || 'screen'))
  const isNew = next !== entry || !next
  if (isNew) {
    page?.leave?.()
    const isFirst = !entry
    entry = next
    page = next ? new next.type({ go, render }) : null
    drawHeader()
    main.dataset.page = next?.path
    main.replaceChildren(next ? h('p.loading', 'Loading…') : h('div.page', h('h1', 'No such page'), h('p', 'The pages of the console are listed at the top.')))
    if (!next) return
    if (next.type !== Bus) live.open({})
    if (!isFirst) main.focus({ preventScroll: true })
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
  if (isNew && url.hash) element(url.hash.slice(1))?.scrollIntoView()
}

addEventListener('popstate', enter)
document.addEventListener('click', event => {
  const anchor = event.target.closest?.('a[href]')
  if (!anchor || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return
  const url = new URL(anchor.getAttribute('href'), location.href)
  if (url.origin !== location.origin) return
  event.preventDefault()
  if (!url.hash || url.pathname !== location.pathname) return go(url)
  if (url.hash !== '#main') history.replaceState(null, '', url)
  element(url.hash.slice(1))?.scrollIntoView()
  element(url.hash.slice(1))?.focus({ preventScroll: true })
})

// Drawing

function render() {
  if (!page) return
  const focused = document.activeElement
  const scope = focused?.closest('[data-scope]')?.dataset.scope
  const isShown = page.isLoaded
  show(main, h('div.page', { 'data-key': entry.path }, isShown ? page.view() : failureView(page.failure, entry.title)))
  if (isShown) page.mounted?.()
  // The element with the focus may have left the page, such as the button that killed a process.
  if (!focused || focused.isConnected) return
  const row = [...main.querySelectorAll('[data-scope]')].find(({ dataset }) => dataset.scope === scope)
  ;(row?.querySelector('[data-row]') ?? main).focus({ preventScroll: true })
}

const failureView = (error, title) => [h('h1', title), error && [h('p', h('strong', error.what ?? error.message)), error.where && h('p', error.where), error.advice && h('p', error.advice)]]

function drawHeader() {
  show(element('nav'), h('ul', pages.map(each => h('li', h('a', {
    href: `/${each.path}`, 'aria-current': each === entry && 'page', 'aria-keyshortcuts': `g ${each.key}`, title: `${each.title} (g ${each.key})`,
  }, each.title)))))
  const { device, instance, isReadOnly, readOnlyReason } = state
  show(element('facts'), isReadOnly && pill('read-only', 'warn', { title: readOnlyReason ?? 'This console shows a journal. It has no actions.' }),
    h('span.fact', [instance, device && `${device.model}, ${device.systemVersion}`].filter(Boolean).join(' · ')))
}

function drawBanner() {
  const text = outage?.status === 401 ? ['This page has no session.', 'Open the link that', 'widgetlab console', 'printed: it has the token.']
    : outage ? ['The console is not reachable.', 'The page shows what it had, and connects again by itself. To start it:', 'widgetlab console', '']
      : state.isReadOnly ? null
        : state.isBusConnected === false ? ['The bus is not reachable.', 'The journal is shown, and actions fail until it is back. It is restarted by', 'widgetlab up', '']
          : state.isHostConnected === false ? ['The host is not reachable.', 'The screen is that of the journal, and actions on the device fail until it is back. It is restarted by', 'widgetlab up', ''] : null
  element('banner').hidden = !text
  show(element('banner'), text && h('p', h('strong', text[0]), ` ${text[1]} `, h('code', text[2]), ` ${text[3]}`))
}

// Live updates: up to five refreshes at once, then four a second.

const wanted = new Set()
let isRefreshing = false
let allowance = 5
let refreshedAt = 0
let timer = 0

async function refresh(topics, isUrgent) {
  for (const topic of topics) wanted.add(topic)
  if (isRefreshing || !wanted.size) return
  allowance = Math.min(5, allowance + (performance.now() - refreshedAt) / 250)
  refreshedAt = performance.now()
  clearTimeout(timer)
  if (allowance < 1 && !isUrgent) {
    timer = setTimeout(refresh, 250, [])
    return
  }
  allowance -= 1
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

live.addEventListener('changed', ({ detail }) => refresh(detail.topics))
live.addEventListener('closed', ({ detail }) => closed(detail))
live.addEventListener('resumed', refreshAll)
live.addEventListener('open', () => {
  if (!outage) return
  outage = null
  main.classList.remove('stale')
  announce('Connected again.')
  drawBanner()
  refreshAll()
})
document.addEventListener('performed', () => refresh(page?.topics ?? [], true))
addEventListener('resize', () => requestAnimationFrame(render))
setInterval(() => { if (!document.hidden && page?.ticks) render() }, 1000)

// Color scheme and keys

const themes = { auto: '◐', dark: '●', light: '○' }

function setTheme(name) {
  const { dataset } = document.documentElement
  if (name === 'auto') delete dataset.theme
  else dataset.theme = name
  localStorage.setItem('theme', name === 'auto' ? '' : name)
  const label = `Color scheme: ${name}`
  const button = element('theme')
  Object.assign(button, { textContent: themes[name], title: label, ariaLabel: label })
  button.onclick = () => {
    const names = Object.keys(themes)
    const next = names[(names.indexOf(name) + 1) % 3]
    setTheme(next)
    announce(`Color scheme: ${next}`)
  }
}

const keyList = [
  ['Pages', pages.map(({ key, title }) => [['g', key], title])],
  ['Lists', [[['j'], 'Next row'], [['k'], 'Previous row'], [['Enter'], 'Open the row'], [['/'], 'Filter'], [['Page Up', 'Page Down'], 'Scroll by a page'],
    [['Home', 'End'], 'Oldest; newest, and follow'], [['Esc'], 'Close; leave the filter']]],
  ['Actions on the row with the focus', [[['x'], 'Kill the process; remove the widget (again to confirm)'], [['z'], 'Stop the process, or continue it'],
    [['t'], 'Tap the widget'], [['r'], 'Reload the widget'], [['p'], 'Push to the widget']]],
  ['Everywhere', [[['c'], 'Copy the command at the bottom'], [['m'], 'Copy the trace as Mermaid'], [['?'], 'This list']]],
]

function showKeys() {
  const dialog = h('dialog', { 'aria-labelledby': 'keys-title' },
    h('div.headline', h('h2', { id: 'keys-title' }, 'Keys'), h('button', { onclick: () => dialog.close() }, 'Close')),
    h('div.columns', keyList.map(([title, rows]) => h('section', h('h3', title), h('dl', rows.map(([keys, text]) => h('div', h('dt', kbd(...keys)), h('dd', text))))))),
    h('label.check', h('input', { type: 'checkbox', checked: !localStorage.getItem('keysOff'), onchange: ({ target }) => localStorage.setItem('keysOff', target.checked ? '' : 'yes') }), 'Single keys are on'))
  dialog.addEventListener('close', () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()
}

/** Moves the focus by rows on a page without a windowed list. */
function moveRow(step) {
  const rows = [...main.querySelectorAll('[data-row]')].filter(row => row.offsetParent)
  const current = rows.indexOf(document.activeElement.closest('[data-scope]')?.querySelector('[data-row]'))
  const next = rows[current < 0 ? step > 0 ? 0 : rows.length - 1 : Math.max(0, Math.min(rows.length - 1, current + step))]
  next?.focus()
  next?.scrollIntoView({ block: 'nearest' })
}

const commands = {
  j: () => page?.move ? page.move(1) : moveRow(1),
  k: () => page?.move ? page.move(-1) : moveRow(-1),
  c: () => offered() && copy(offered()),
  m: () => main.querySelector('[data-mermaid]')?.click(),
  '?': showKeys,
  '/': () => main.querySelector('[data-filter]')?.focus(),
}
let hasPrefix = false

document.addEventListener('keydown', event => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return
  const { key, target } = event
  const isTyping = target.closest?.('input, textarea, select')
  if (key === 'Escape') {
    if (isTyping) target.blur()
    else page?.close?.()
  }
  if (isTyping || localStorage.getItem('keysOff')) return
  const next = hasPrefix && pages.find(each => each.key === key)
  const button = target.closest?.('[data-scope]')?.querySelector(`[data-hotkey="${CSS.escape(key)}"]`)
  hasPrefix = key === 'g'
  const command = next ? () => go(`/${next.path}`) : button ? () => press(button) : commands[key]
  if (!command) return
  event.preventDefault()
  command()
})

// Start

element('keys').onclick = showKeys
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
