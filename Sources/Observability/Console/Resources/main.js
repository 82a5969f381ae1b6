// SPDX-License-Identifier: Apache-2.0
// The frame of the console: session, addresses, live updates, keys and color scheme. Each page is a class in a file of
// its own, with `enter(url)`, `refresh(topics)`, `view()`, and for some `mounted()`, `leave()` and `move(step)`.

import { announce, copy, h, kbd, show } from './dom.js'
import { live, readState, startSession, state } from './api.js'
import { offered, press, redraw } from './actions.js'
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

const main = document.getElementById('main')
const banner = document.getElementById('banner')
let page = null
let entry = null
/** Why the console does not answer: null, or a failure. */
let outage = null

// Addresses

function entryOf(pathname) {
  const name = pathname.split('/')[1] || 'screen'
  return pages.find(each => each.path === name)
}

/** Goes to an address of the console. */
function go(href, { replace = false } = {}) {
  const url = new URL(href, location.href)
  if (url.href !== location.href) history[replace ? 'replaceState' : 'pushState'](null, '', url)
  enter()
}

async function enter() {
  const url = new URL(location.href)
  const next = entryOf(url.pathname)
  if (!next) return unknown(url)
  const isNew = next !== entry
  if (isNew) {
    page?.leave?.()
    entry = next
    page = new next.type({ go, render })
    main.replaceChildren(h('p.loading', 'Loading…'))
    main.dataset.page = next.path
    drawHeader()
    if (!page.isStreaming) live.open({})
  }
  const current = page
  try {
    await current.enter(url)
    current.isLoaded = true
    current.failure = null
  } catch (error) {
    current.failure = error
  }
  if (current !== page) return
  render()
  document.title = `${page.title ?? entry.title} · WidgetLab`
  if (isNew) {
    main.scrollTop = 0
    const anchor = url.hash && document.getElementById(url.hash.slice(1))
    if (anchor) anchor.scrollIntoView()
    if (!isFirst) main.focus({ preventScroll: true })
    isFirst = false
  }
}
let isFirst = true

function unknown(url) {
  entry = null
  page?.leave?.()
  page = null
  main.replaceChildren(h('div.page', h('h1', 'No such page'),
    h('p', `${url.pathname} is not a page of the console. Its pages are listed at the top.`)))
  drawHeader()
}

addEventListener('popstate', enter)
document.addEventListener('click', event => {
  const anchor = event.target.closest?.('a[href]')
  if (!anchor || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return
  const url = new URL(anchor.getAttribute('href'), location.href)
  if (anchor.hasAttribute('download') || url.origin !== location.origin || url.pathname.startsWith('/api/')) return
  event.preventDefault()
  if (url.hash && url.pathname === location.pathname) {
    const target = document.getElementById(url.hash.slice(1))
    if (url.hash !== '#main') history.replaceState(null, '', url)
    target?.scrollIntoView()
    target?.focus({ preventScroll: true })
    return
  }
  go(url)
})

// Drawing

function render() {
  if (!page) return
  const focused = document.activeElement
  const scope = focused?.closest?.('[data-scope]')?.dataset.scope
  show(main, h('div.page', { 'data-key': entry.path },
    page.failure && !page.isLoaded ? failureView(page.failure) : page.view()))
  if (!page.failure || page.isLoaded) page.mounted?.()
  // The element with the focus may have left the page.
  if (focused && focused !== document.body && !focused.isConnected) {
    const row = scope && [...main.querySelectorAll('[data-scope]')].find(each => each.dataset.scope === scope)
    ;(row?.querySelector('[data-row]') ?? main).focus({ preventScroll: true })
  }
}

function failureView(error) {
  return h('div.failure', h('h1', entry.title), h('p', h('strong', error.what ?? error.message)),
    error.where && h('p', error.where), error.advice && h('p', error.advice))
}

function drawHeader() {
  show(document.getElementById('nav'), h('ul', pages.map(each => h('li', h('a', {
    href: `/${each.path}`, 'aria-current': each === entry && 'page', 'aria-keyshortcuts': `g ${each.key}`,
    title: `${each.title} (g ${each.key})`,
  }, each.title)))))
  const { device, instance, isReadOnly } = state
  show(document.getElementById('facts'),
    isReadOnly && h('span.pill.warn', { title: state.readOnlyReason ?? 'This console shows a journal. It has no actions.' }, 'read-only'),
    h('span.fact', [instance, device && `${device.model}, ${device.systemVersion}`].filter(Boolean).join(' · ')))
}

function drawBanner() {
  let text = null
  if (outage?.status === 401) {
    text = ['This page has no session. ', 'Open the link that ', h('code', 'widgetlab console'), ' printed; it has the token.']
  } else if (outage) {
    text = ['The console is not reachable. ', 'The page shows what it had, and connects again by itself. If it stays so: ',
      h('code', 'widgetlab console')]
  } else if (state.isReadOnly) {
    text = null
  } else if (state.isBusConnected === false) {
    text = ['The bus is not reachable. ', 'The journal is shown, and actions fail until it is back; ',
      h('code', 'widgetlab up'), ' restarts it.']
  } else if (state.isHostConnected === false) {
    text = ['The host is not reachable. ', 'The screen is that of the journal, and device actions fail until it is back; ',
      h('code', 'widgetlab up'), ' restarts it.']
  }
  banner.hidden = !text
  show(banner, text && h('p', h('strong', text[0]), text.slice(1)))
}

// Live updates

const wanted = new Set()
let isRefreshing = false
// Up to five refreshes at once, then four a second.
let allowance = 5
let lastRefresh = 0
let timer = 0

/** Reads what changed again. A refresh that `isUrgent` is not delayed. */
async function refresh(topics, isUrgent) {
  for (const topic of topics) wanted.add(topic)
  if (isRefreshing || !wanted.size) return
  const now = performance.now()
  allowance = Math.min(5, allowance + (now - lastRefresh) / 250)
  lastRefresh = now
  if (allowance < 1 && !isUrgent) {
    clearTimeout(timer)
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
      redraw()
    }
    const mine = page?.topics?.filter(topic => current.has(topic)) ?? []
    if (mine.length) {
      const target = page
      await target.refresh(new Set(mine))
      target.isLoaded = true
      target.failure = null
      if (target === page) render()
    }
  } catch (error) {
    if (page) page.failure = error
    if (error.status === 401) closed(error)
  } finally {
    isRefreshing = false
  }
  if (wanted.size) refresh([])
}

function closed(failure) {
  if (!failure) return
  outage = failure
  main.dataset.isStale = ''
  drawBanner()
}

live.addEventListener('changed', event => refresh(event.detail.topics))
live.addEventListener('closed', event => closed(event.detail))
live.addEventListener('open', () => {
  if (!outage) return
  outage = null
  delete main.dataset.isStale
  announce('Connected again.')
  refresh(['state', ...page?.topics ?? []], true)
  drawBanner()
})
live.addEventListener('resumed', () => refresh(['state', ...page?.topics ?? []], true))
document.addEventListener('performed', () => refresh(page?.topics ?? [], true))
addEventListener('resize', () => requestAnimationFrame(render))
setInterval(() => { if (!document.hidden && page?.ticks) render() }, 1000)

// Color scheme

const themes = ['auto', 'dark', 'light']
const themeButton = document.getElementById('theme')
function drawTheme() {
  const theme = document.documentElement.dataset.theme ?? 'auto'
  themeButton.textContent = { auto: '◐', dark: '●', light: '○' }[theme]
  themeButton.setAttribute('aria-label', `Color scheme: ${theme}`)
  themeButton.title = `Color scheme: ${theme}`
}
themeButton.onclick = () => {
  const root = document.documentElement
  const next = themes[(themes.indexOf(root.dataset.theme ?? 'auto') + 1) % themes.length]
  if (next === 'auto') delete root.dataset.theme
  else root.dataset.theme = next
  remember('theme', next === 'auto' ? null : next)
  drawTheme()
  announce(`Color scheme: ${next}`)
}

function remember(name, value) {
  try {
    if (value === null) localStorage.removeItem(name)
    else localStorage.setItem(name, value)
  } catch {
    // Without storage the choice is for this page only.
  }
}

// Keys

let usesKeys = true
try {
  usesKeys = localStorage.getItem('keys') !== 'off'
} catch {
  // Without storage, keys are on.
}
let prefix = false

const keyList = [
  ['Pages', pages.map(each => [['g', each.key], each.title])],
  ['Lists', [[['j'], 'Next row'], [['k'], 'Previous row'], [['Enter'], 'Open the row'], [['/'], 'Filter'],
    [['Page Up', 'Page Down'], 'Scroll by a page'], [['Home', 'End'], 'Oldest, newest and follow'], [['Esc'], 'Close, or leave the filter']]],
  ['Actions on the row with the focus', [[['x'], 'Kill the process; remove the widget (again to confirm)'], [['z'], 'Stop the process, or continue it'],
    [['t'], 'Tap the widget'], [['r'], 'Reload the widget'], [['p'], 'Push to the widget']]],
  ['Everywhere', [[['c'], 'Copy the command at the bottom'], [['m'], 'Copy the trace as Mermaid'], [['?'], 'This list']]],
]

function showKeys() {
  const dialog = h('dialog.keys', { 'aria-labelledby': 'keys-title' },
    h('div.headline', h('h2', { id: 'keys-title' }, 'Keys'),
      h('form', { method: 'dialog' }, h('button', 'Close'))),
    h('div.columns', keyList.map(([title, rows]) => h('section', h('h3', title),
      h('dl', rows.map(([keys, text]) => h('div', h('dt', kbd(...keys)), h('dd', text))))))),
    h('label.check', h('input', { type: 'checkbox', checked: usesKeys, onchange: event => {
      usesKeys = event.target.checked
      remember('keys', usesKeys ? null : 'off')
    } }), 'Single keys are on'))
  dialog.addEventListener('close', () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()
}
document.getElementById('keys').onclick = showKeys

const isTyping = element => element?.closest?.('input, textarea, select, [contenteditable]')

/** Moves the focus by rows on a page without a windowed list. */
function moveRow(step) {
  const rows = [...main.querySelectorAll('[data-row]')].filter(row => row.offsetParent)
  const current = rows.indexOf(document.activeElement?.closest('[data-scope]')?.querySelector('[data-row]') ?? document.activeElement)
  const next = rows[current < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.max(0, Math.min(rows.length - 1, current + step))]
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

document.addEventListener('keydown', event => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return
  if (event.key === 'Escape') {
    if (isTyping(event.target)) event.target.blur()
    else page?.close?.()
    return
  }
  if (isTyping(event.target) || !usesKeys) return
  if (prefix) {
    prefix = false
    const target = pages.find(each => each.key === event.key)
    if (target) {
      event.preventDefault()
      return go(`/${target.path}`)
    }
  }
  if (event.key === 'g') {
    prefix = true
    return
  }
  const button = event.target.closest?.('[data-scope]')?.querySelector(`[data-hotkey="${CSS.escape(event.key)}"]`)
  if (button) {
    event.preventDefault()
    return press(button)
  }
  if (!commands[event.key]) return
  event.preventDefault()
  commands[event.key]()
})

// Start

async function start() {
  drawTheme()
  drawHeader()
  try {
    await startSession()
    await readState()
  } catch (error) {
    outage = error
    drawBanner()
    show(main, h('div.failure', h('h1', error.status === 401 ? 'No session' : 'Not reachable'),
      h('p', h('strong', error.what)), error.where && h('p', error.where), error.advice && h('p', error.advice)))
    if (error.status !== 401) setTimeout(() => location.reload(), 2000)
    return
  }
  if (location.pathname === '/') history.replaceState(null, '', '/screen')
  drawHeader()
  drawBanner()
  redraw()
  enter()
}

start()
