// SPDX-License-Identifier: Apache-2.0
// Actions: buttons and forms that perform a command of `widgetlab`, and the line at the bottom of the page that shows
// the command of the button that has the focus, to copy, and then its result.

import { announce, copyButton, h, kbd, show } from './dom.js'
import { commandLine, perform, state } from './api.js'

/**
 * A button that performs a command; null when the console is read-only.
 *
 * With `confirm`, a second press is necessary. The key `hotkey` presses it while its row has the focus.
 */
export function action(label, args, { confirm, hotkey, kind, name } = {}) {
  if (state.isReadOnly) return null
  return h('button', {
    class: `action ${kind ?? ''}`, 'data-key': args.slice(0, 3).join(' ') + label,
    'data-args': JSON.stringify(args), 'data-confirm': confirm, 'data-hotkey': hotkey, 'aria-keyshortcuts': hotkey,
    title: commandLine(args) + (hotkey ? ` (key ${hotkey})` : ''), 'aria-label': name && `${label} ${name}`,
  }, label)
}

/**
 * A form that performs a command. `build` makes the arguments from the values of the fields, or null while they are
 * incomplete.
 */
export function actionForm(key, label, fields, build, options) {
  if (state.isReadOnly) return null
  const inputs = fields.map(field => input(key, field))
  const button = h('button', { type: 'submit', class: `action ${options?.kind ?? ''}`, 'data-confirm': options?.confirm }, label)
  const form = h('form.form', { 'data-own': '', 'data-key': key + JSON.stringify(fields), 'aria-label': options?.name ?? label },
    inputs, button)
  const update = () => {
    const args = build(Object.fromEntries(new FormData(form)))
    for (const name of ['args', 'confirm']) delete button.dataset[name]
    if (args) {
      button.dataset.args = JSON.stringify(args)
      button.title = commandLine(args)
      if (options?.confirm) button.dataset.confirm = options.confirm
    }
    button.setAttribute('aria-disabled', String(!args))
    return args
  }
  form.oninput = () => {
    const args = update()
    if (args) offer(args)
  }
  form.onsubmit = event => event.preventDefault()
  update()
  return form
}

function input(key, { name, label, options, groups, ...attributes }) {
  const id = `${key}-${name}`
  const option = item => Array.isArray(item) ? h('option', { value: item[0] }, item[1]) : h('option', item)
  const field = groups
    ? h('select', { id, name }, groups.map(([title, items]) => h('optgroup', { label: title }, items.map(option))))
    : options ? h('select', { id, name, ...attributes }, options.map(option))
      : h('input', { id, name, autocomplete: 'off', spellcheck: 'false', ...attributes })
  return h('label', { for: id }, h('span', label), field)
}

const bar = document.getElementById('command')
let shown = null
const recent = []

/** Shows a command in the line at the bottom. */
export function offer(args) {
  const line = commandLine(args)
  if (shown?.line === line) return
  shown = { line, result: null }
  draw()
}

/** The command that the line shows. */
export const offered = () => shown?.line

function draw() {
  const result = shown?.result
  show(bar,
    shown
      ? h('div.line',
        h('span.prompt', { 'aria-hidden': 'true' }, '$'), h('code', shown.line),
        copyButton(shown.line, 'Copy', { 'aria-label': 'Copy the command', title: 'Copy the command (key c)' }),
        result && h('span', { class: `result ${result.kind}` }, result.text),
        result?.advice && h('span.advice', result.advice))
      : h('div.line.hint', state.isReadOnly
        ? 'Read-only: this console shows a journal, and has no actions.'
        : ['Each button shows its command here. ', kbd('c'), ' copies it, ', kbd('?'), ' lists all keys.']),
    recent.length > 1 && h('details.recent', h('summary', `${recent.length} commands`),
      h('ol', recent.map(entry => h('li', { 'data-key': String(entry.number) }, h('code', entry.line),
        copyButton(entry.line, 'Copy', { 'aria-label': `Copy ${entry.line}` }),
        h('span', { class: `result ${entry.result.kind}` }, entry.result.text))))))
}

/** Performs a command, shows its result, and returns whether it succeeded. */
export async function run(args) {
  const entry = { number: recent.length, line: commandLine(args), result: { kind: 'busy', text: 'running…' } }
  shown = entry
  draw()
  try {
    const { exit, output, errors, milliseconds } = await perform(args)
    const texts = exit === 0 ? output : errors.length ? errors : output
    entry.result = {
      kind: exit === 0 ? 'good' : 'bad',
      text: `${exit === 0 ? '✓' : `✕ exit code ${exit}:`} ${texts.join(' · ') || 'done'}`,
      advice: `${Math.round(milliseconds)} ms`,
    }
  } catch (error) {
    entry.result = { kind: 'bad', text: `✕ ${error.what ?? error.message}`, advice: error.advice ?? '' }
  }
  recent.unshift(entry)
  recent.splice(20)
  draw()
  announce(entry.result.text)
  document.dispatchEvent(new CustomEvent('performed'))
  return entry.result.kind === 'good'
}

const restore = button => {
  if (button.dataset.armed === undefined) return
  button.textContent = button.dataset.armed
  delete button.dataset.armed
  button.classList.remove('armed')
}

/** The first press of a button that needs a confirmation asks for a second one. */
export function press(button) {
  if (button.getAttribute('aria-disabled') === 'true') return announce('This is not possible now.')
  const args = JSON.parse(button.dataset.args)
  offer(args)
  if (button.dataset.confirm && button.dataset.armed === undefined) {
    button.dataset.armed = button.textContent
    button.textContent = button.dataset.confirm
    button.classList.add('armed')
    button.focus()
    const key = button.dataset.hotkey
    announce(`${button.dataset.confirm} Press ${key ? `${key} or ` : ''}Enter again, or Escape.`)
    return
  }
  restore(button)
  run(args)
}

const actionOf = event => event.target.closest?.('[data-args]')

document.addEventListener('click', event => {
  const button = actionOf(event)
  if (button) press(button)
})
for (const type of ['focusin', 'pointerover']) {
  document.addEventListener(type, event => {
    const button = actionOf(event)
    if (button) offer(JSON.parse(button.dataset.args))
  })
}
document.addEventListener('focusout', event => {
  const button = actionOf(event)
  if (button) restore(button)
})
document.addEventListener('keydown', event => {
  const button = actionOf(event)
  if (event.key === 'Escape' && button?.dataset.armed !== undefined) {
    restore(button)
    event.stopPropagation()
  }
})

draw()

/** Draws the line again, when the state of the console changed. */
export const redraw = draw
