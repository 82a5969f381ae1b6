// SPDX-License-Identifier: Apache-2.0
// Actions: buttons and forms that perform a command of `widgetlab`. The line at the bottom of the page shows the command
// of the button that has the focus, to copy, and then its result.

import { announce, copyButton, h, kbd, show } from './dom.js'
import { commandLine, perform, state } from './api.js'

/**
 * A button that performs a command; null when the console is read-only. With `confirm`, a second press is necessary.
 * The key `hotkey` presses it while its row has the focus.
 */
export function action(label, args, { confirm, hotkey, kind = '', name } = {}) {
  return state.isReadOnly ? null : h(`button.action.${kind}`, {
    'data-key': args.slice(0, 3) + label, 'data-args': JSON.stringify(args), 'data-confirm': confirm, 'data-hotkey': hotkey,
    'aria-keyshortcuts': hotkey, title: commandLine(...args) + (hotkey ? ` (key ${hotkey})` : ''), 'aria-label': name && `${label} ${name}`,
  }, label)
}

/**
 * A form that performs a command. `build` makes the arguments from the values of the fields, or null while they are
 * incomplete.
 */
export function actionForm(key, label, name, fields, build, kind = '') {
  if (state.isReadOnly) return null
  const button = h(`button.action.${kind}`, label)
  const form = h('form.form', { 'data-own': '', 'data-key': key + JSON.stringify(fields), 'aria-label': name },
    fields.map(field => input(key, field)), button)
  const update = () => {
    const args = build(Object.fromEntries(new FormData(form)))
    delete button.dataset.args
    if (args) button.dataset.args = JSON.stringify(args)
    button.title = args ? commandLine(...args) : ''
    button.setAttribute('aria-disabled', String(!args))
    return args
  }
  button.type = 'submit'
  form.oninput = () => offer(update())
  form.onsubmit = event => event.preventDefault()
  update()
  return form
}

const option = item => Array.isArray(item) ? h('option', { value: item[0] }, item[1]) : h('option', item)

function input(key, { name, label, options, groups, ...attributes }) {
  const common = { id: `${key}-${name}`, name, ...attributes }
  return h('label', { for: common.id }, h('span', label), options ? h('select', common, options.map(option))
    : groups ? h('select', common, groups.map(([title, items]) => h('optgroup', { label: title }, items.map(option))))
      : h('input', { autocomplete: 'off', spellcheck: 'false', ...common }))
}

let line = null
let result = null

/** The command that the line shows. */
export const offered = () => line

/** Draws the line at the bottom. */
export const drawLine = () => show(document.getElementById('command'), line
  ? [h('span.dim', { 'aria-hidden': 'true' }, '$'), h('code', line), copyButton(line, 'Copy', { 'aria-label': 'Copy the command', title: 'Copy the command (key c)' }),
    result && h(`span.result.${result.kind}`, result.text)]
  : h('span.dim', state.isReadOnly ? 'Read-only: this console shows a journal, and has no actions.'
    : ['Each button shows its command here. ', kbd('c'), ' copies it, ', kbd('?'), ' lists all keys.']))

function offer(args) {
  if (!args || line === commandLine(...args)) return
  line = commandLine(...args)
  result = null
  drawLine()
}

async function run(args) {
  const shown = commandLine(...args)
  line = shown
  result = { kind: 'busy', text: 'running…' }
  drawLine()
  let done
  try {
    const { exit, output, errors, milliseconds } = await perform(args)
    const text = (exit && errors.length ? errors : output).join(' · ') || 'done'
    done = exit ? { kind: 'bad', text: `✕ exit code ${exit}: ${text}` } : { kind: 'good', text: `✓ ${text} (${Math.round(milliseconds)} ms)` }
  } catch (error) {
    done = { kind: 'bad', text: `✕ ${error.what ?? error.message}. ${error.advice ?? ''}` }
  }
  announce(done.text)
  document.dispatchEvent(new CustomEvent('performed'))
  if (line !== shown) return
  result = done
  drawLine()
}

function restore(button) {
  if (button?.dataset.armed === undefined) return false
  button.textContent = button.dataset.armed
  delete button.dataset.armed
  return true
}

/** Presses a button. The first press of one that needs a confirmation asks for a second one. */
export function press(button) {
  const { args, confirm, armed, hotkey } = button.dataset
  if (!args) return
  offer(JSON.parse(args))
  if (confirm && armed === undefined) {
    button.dataset.armed = button.textContent
    button.textContent = confirm
    button.focus()
    return announce(`${confirm} Press ${hotkey ? `${hotkey} or ` : ''}Enter again, or Escape.`)
  }
  restore(button)
  run(JSON.parse(args))
}

const on = (type, listener) => document.addEventListener(type, event => {
  const button = event.target.closest?.('[data-args]')
  if (button) listener(button, event)
})
on('click', press)
on('focusin', button => offer(JSON.parse(button.dataset.args)))
on('pointerover', button => offer(JSON.parse(button.dataset.args)))
on('focusout', restore)
on('keydown', (button, event) => {
  if (event.key === 'Escape' && restore(button)) event.stopPropagation()
})
