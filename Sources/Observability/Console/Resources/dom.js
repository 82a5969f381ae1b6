// SPDX-License-Identifier: Apache-2.0
// Creates elements, and updates the page in place, so that a live update keeps focus, scroll positions and what the
// user has typed. Texts become text nodes only: no text is ever parsed as markup.

/**
 * Creates an HTML element from a name with classes, such as `p.dim`, attributes, which may be left out, and children.
 * `on…` are listeners, `style` is an object, and null or false attributes and children are left out.
 */
export const h = (name, ...rest) => create(tag => document.createElement(tag), name, rest)

/** Creates an SVG element. */
export const s = (name, ...rest) => create(tag => document.createElementNS('http://www.w3.org/2000/svg', tag), name, rest)

function create(make, name, rest) {
  const [tag, ...classes] = name.split('.')
  const element = make(tag)
  if (classes.length) element.setAttribute('class', classes.join(' '))
  if (tag === 'button') element.type = 'button'
  const attributes = rest[0]?.constructor === Object ? rest.shift() : {}
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue
    if (key.startsWith('on') || key === 'value' || key === 'checked') element[key] = value
    // The policy forbids style attributes; the object model is allowed.
    else if (key === 'style') for (const [property, text] of Object.entries(value)) element.style.setProperty(property, text)
    else element.setAttribute(key, value === true ? '' : value)
  }
  append(element, rest)
  return element
}

function append(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue
    if (Array.isArray(child)) append(element, child)
    else element.append(child)
  }
}

const listeners = ['onclick', 'oninput', 'onchange', 'onsubmit', 'onkeydown', 'onfocus', 'onpointerenter', 'ontoggle']
// What a user changes, and what the script changes apart from the descriptions.
const kept = new Set(['open', 'data-armed', 'style', 'tabindex'])

/** Changes an element until it equals another. Children with a `data-key` are the same if their keys are the same. */
export function morph(from, to) {
  if (from.nodeType !== to.nodeType || from.nodeName !== to.nodeName || from.dataset?.key !== to.dataset?.key) {
    from.replaceWith(to)
    return to
  }
  if (from.nodeType !== Node.ELEMENT_NODE) {
    if (from.data !== to.data) from.data = to.data
    return from
  }
  // A button that waits for its confirmation stays as it is, unless it now does something else.
  if (from.dataset.armed !== undefined && from.dataset.args === to.dataset.args) return from
  delete from.dataset.armed
  for (const { name } of [...from.attributes]) if (!kept.has(name) && !to.hasAttribute(name)) from.removeAttribute(name)
  for (const { name, value } of to.attributes) {
    if (name !== 'style' && from.getAttribute(name) !== value) from.setAttribute(name, value)
  }
  if (from.style && from.style.cssText !== to.style.cssText) from.style.cssText = to.style.cssText
  for (const name of listeners) from[name] = to[name]
  // A component updates itself.
  if (from.dataset.own !== undefined) return from
  if ('value' in to && to.dataset.live !== undefined && from !== document.activeElement) {
    morphChildren(from, to)
    if (from.value !== to.value) from.value = to.value
    return from
  }
  morphChildren(from, to)
  return from
}

function morphChildren(from, to) {
  const wanted = [...to.childNodes]
  const keys = new Set(wanted.map(node => node.dataset?.key).filter(Boolean))
  const keyed = new Map()
  for (const node of from.childNodes) if (node.dataset?.key) keyed.set(node.dataset.key, node)
  let cursor = from.firstChild
  for (const next of wanted) {
    const key = next.dataset?.key
    while (cursor?.dataset?.key && cursor.dataset.key !== key && !keys.has(cursor.dataset.key)) {
      const gone = cursor
      cursor = cursor.nextSibling
      gone.remove()
    }
    const match = key ? keyed.get(key) : cursor && !cursor.dataset?.key ? cursor : null
    if (!match) {
      from.insertBefore(next, cursor)
    } else if (match === cursor) {
      cursor = cursor.nextSibling
      morph(match, next)
    } else {
      if (from.moveBefore && match.isConnected) from.moveBefore(match, cursor)
      else from.insertBefore(match, cursor)
      morph(match, next)
    }
  }
  while (cursor) {
    const gone = cursor
    cursor = cursor.nextSibling
    gone.remove()
  }
}

/** Makes the children of an element those of a list, in place. */
export function show(element, ...children) {
  const next = element.cloneNode(false)
  append(next, children)
  const open = element.hidden
  morph(element, next)
  element.hidden = open
}

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
    document.body.append(area)
    const focused = document.activeElement
    area.select()
    document.execCommand('copy')
    area.remove()
    focused?.focus()
  }
  announce(`Copied: ${what ?? text}`)
}

/** A button that copies a text. */
export function copyButton(text, label, attributes) {
  return h('button', {
    class: 'copy', ...attributes,
    onclick: async event => {
      const button = event.currentTarget
      await copy(text, label)
      button.dataset.done = ''
      button.addEventListener('animationend', () => delete button.dataset.done, { once: true })
      button.addEventListener('blur', () => delete button.dataset.done, { once: true })
    },
  }, label)
}

/** A key of the keyboard. */
export const kbd = (...keys) => keys.map(key => h('kbd', key))

/** A section with a heading, and what stands at the end of its line. */
export function section(id, title, end, ...content) {
  return h('section.section', { 'aria-labelledby': id, 'data-key': id },
    h('div.headline', h('h2', { id }, title), end), ...content)
}

/** What an empty list says: why it is empty, and the command that fills it. */
export function empty(text, command) {
  return h('div.empty', h('p', text),
    command && h('p', h('code', command), ' ', copyButton(command, 'Copy', { 'aria-label': `Copy ${command}` })))
}

/** The command line that shows the same, with a button that copies it. */
export const equivalent = (line, ...more) => h('span.equivalent', h('code', line), copyButton(line, 'Copy', { 'aria-label': `Copy ${line}` }), more)

/** A table. A heading that ends with # is that of a column of numbers. */
export const grid = (label, headings, ...rows) => h('div.scroller', { tabindex: '0', role: 'group', 'aria-label': label }, h('table.plain',
  h('thead', h('tr', headings.map(text => text && (text.nodeType ? text : h('th', { scope: 'col', class: text.endsWith('#') && 'number' }, text.replace('#', '')))))),
  rows[0]?.[0]?.nodeName === 'TBODY' ? rows : h('tbody', rows)))
