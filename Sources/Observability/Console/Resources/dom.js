// SPDX-License-Identifier: Apache-2.0
// Creates elements, and updates the page in place, so that a live update keeps focus, scroll positions and what the
// user has typed. Texts become text nodes: no text is ever parsed as markup.

/**
 * Creates an HTML element from a name with classes, such as `p.dim`, attributes, which may be left out, and children.
 * `on…` are listeners, `style` is an object; null and false are left out.
 */
export const h = (name, ...rest) => create(tag => document.createElement(tag), name, rest)

/** Creates an SVG element. */
export const s = (name, ...rest) => create(tag => document.createElementNS('http://www.w3.org/2000/svg', tag), name, rest)

function create(make, name, rest) {
  const [tag, ...classes] = name.split('.')
  const element = make(tag)
  if (classes.length) element.setAttribute('class', classes.join(' ').trim())
  if (tag === 'button') element.type = 'button'
  const attributes = rest[0]?.constructor === Object ? rest.shift() : {}
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue
    if (key.startsWith('on') || key === 'value' || key === 'checked') element[key] = value
    // The policy forbids style attributes; the object model is allowed.
    else if (key === 'style') for (const [property, text] of Object.entries(value)) element.style.setProperty(property, text)
    else element.setAttribute(key, value === true ? '' : value)
  }
  element.append(...rest.flat(9).filter(child => child !== null && child !== undefined && child !== false))
  return element
}

const listeners = ['onclick', 'oninput', 'onchange', 'onsubmit', 'onfocus']
// What a user or a component changes.
const kept = new Set(['open', 'data-armed', 'style', 'tabindex'])

/** Changes an element until it equals another. Children with a `data-key` are the same if their keys are the same. */
function morph(from, to) {
  if (from.nodeName !== to.nodeName || from.dataset?.key !== to.dataset?.key) return from.replaceWith(to)
  if (from.nodeType !== Node.ELEMENT_NODE) {
    if (from.data !== to.data) from.data = to.data
    return
  }
  // A button that waits for its confirmation stays as it is, unless it now does something else.
  if (from.dataset.armed !== undefined && from.dataset.args === to.dataset.args) return
  for (const { name } of [...from.attributes]) if (!kept.has(name) && !to.hasAttribute(name)) from.removeAttribute(name)
  for (const { name, value } of to.attributes) if (name !== 'style' && from.getAttribute(name) !== value) from.setAttribute(name, value)
  if (from.style.cssText !== to.style.cssText) from.style.cssText = to.style.cssText
  for (const name of listeners) from[name] = to[name]
  // A component updates itself.
  if (from.dataset.own === undefined) morphChildren(from, [...to.childNodes])
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
      // A move by insertion would lose the focus.
      if (match === cursor) next()
      else if (from.moveBefore) from.moveBefore(match, cursor)
      else from.insertBefore(match, cursor)
      morph(match, to)
    }
  }
  while (cursor) next().remove()
}

/** Makes the children of an element those that are given, in place. */
export const show = (element, ...children) => morphChildren(element, [...h('div', ...children).childNodes])

/** Tells a screen reader one sentence. */
export function announce(text) {
  const region = document.getElementById('announcer')
  // The same text again would not be announced.
  region.textContent = region.textContent === text ? text + '\u00a0' : text
}

/** Copies a text, and announces what was copied. */
export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    // A page from another host than this machine has no clipboard interface.
    const area = h('textarea.unseen', { value: text })
    const focused = document.activeElement
    document.body.append(area)
    area.select()
    document.execCommand('copy')
    area.remove()
    focused?.focus()
  }
  announce(`Copied: ${what ?? text}`)
}

/** A button that copies a text. */
export const copyButton = (text, label = 'Copy', attributes = { 'aria-label': `Copy ${text}` }) => h('button.copy', {
  ...attributes,
  onclick: async ({ currentTarget: button }) => {
    await copy(text, label === 'Copy' ? text : label)
    button.classList.add('done')
    setTimeout(() => button.classList.remove('done'), 1500)
  },
}, label)

/** The command line that shows the same, with a button that copies it. */
export const equivalent = (line, ...more) => h('span.equivalent', h('code', line), copyButton(line), more)

export const kbd = (...keys) => keys.map(key => h('kbd', key))

/** A short text with a color: good, warn, bad, or another class. */
export const pill = (text, tone = '', attributes = {}) => h(`span.pill.${tone}`, attributes, text)

/** A section with a heading, and what is at the end of its line. */
export const section = (id, title, end, ...content) => h('section.section', { 'aria-labelledby': id, 'data-key': id },
  h('div.headline', h('h2', { id, tabindex: '-1' }, title), end), content)

/** What an empty list says: why it is empty, and the command that fills it. */
export const empty = (text, command) => h('div.empty', h('p', text), command && h('p', equivalent(command)))

/**
 * A table. A heading that ends with # is that of numbers. A row is `{key, cells, …}`, with the attributes of the row; the
 * first cell is its heading. `more` is shown below the row.
 */
export function grid(label, headings, rows) {
  const number = index => /#$|^number$/.test(headings[index].className ?? headings[index]) && 'number'
  return h('div.scroller', { tabindex: '0', role: 'group', 'aria-label': label }, h('table', { class: 'plain', 'aria-label': label },
    h('thead', h('tr', headings.map((text, index) => text && (text.nodeType ? text : h('th', { scope: 'col', class: number(index) }, text.replace('#', '')))))),
    h('tbody', rows.flatMap(({ key, cells, more, ...rest }) => [
      h('tr', { 'data-key': key, 'data-scope': key, ...rest }, cells.map((cell, index) => cell === false ? null
        : index ? h('td', { class: number(index) }, cell) : h('th', { scope: 'row' }, cell))),
      more && h('tr.more', { 'data-key': `${key} more` }, h('td', { colspan: headings.length }, more)),
    ]))))
}

/** Facts with their names. Those without a value are left out. */
export const facts = items => h('dl.pairs', items.filter(([, value]) => value).map(([name, ...value]) => h('div', h('dt', name), h('dd', value))))

/** A panel beside a list. */
export const panel = (id, title, close, ...content) => h('aside.detail', { 'data-key': 'panel', 'aria-labelledby': id },
  h('div.headline', h('h2', { id, tabindex: '-1' }, title), h('button.quiet', { title: 'Close (Escape)', onclick: close }, 'Close')), content)

/** What an error says. */
export const failed = error => error && h('p.bad', `${error.what ?? error.message}. `, error.advice)

/** Choices of which one is the current one, as links. */
export const choices = (label, items, current) => h('div.choices', { role: 'group', 'aria-label': label },
  items.map(([value, text, href]) => h('a', { href, 'aria-current': value === current && 'true' }, text)))

/** The width for drawings. */
export const room = () => Math.max(280, document.getElementById('main').clientWidth - 56)
