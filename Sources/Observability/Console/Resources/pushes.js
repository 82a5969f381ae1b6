// SPDX-License-Identifier: Apache-2.0
// The page "Pushes and diagnoses": deliveries with every step, tokens, answers on demand, reasons; and the mistakes in
// the author's code with their evidence.

import { copyButton, empty, equivalent, grid, h, section } from './dom.js'
import { commandLine, get, state } from './api.js'
import { action, actionForm } from './actions.js'
import { clock, duration, moment, plural, role, shortName } from './format.js'

const types = ['widgets', 'alert', 'background', 'controls']

export class Pushes {
  topics = ['pushes', 'diagnoses']
  opened = new Set()

  constructor(app) { this.app = app }

  async enter() {
    if (!this.report) await this.refresh(new Set(this.topics))
  }

  async refresh(topics) {
    const [report, diagnoses] = await Promise.all([
      topics.has('pushes') ? get('/api/pushes', { limit: 50 }) : this.report,
      topics.has('diagnoses') ? get('/api/diagnoses') : this.diagnoses,
    ])
    this.report = report
    this.diagnoses = diagnoses
  }

  view() {
    const { pushes, tokens, answers, reasons, isReachable } = this.report
    const { diagnoses } = this.diagnoses
    const log = commandLine(['push', 'log'])
    return [
      h('div.pagehead', h('h1', 'Pushes and diagnoses'),
        h('span.range', h('a', { href: '#pushes' }, plural(pushes.length, 'push', 'pushes')), ' · ', h('a', { href: '#tokens' }, plural(tokens.length, 'token')), ' · ', h('a', { href: '#diagnoses' }, plural(diagnoses.length, 'diagnosis', 'diagnoses')))),
      !isReachable && !state.isReadOnly && h('p.notice', 'The push server does not answer: tokens and the log below may be old. ', h('code', 'widgetlab up'), ' restarts it.'),
      section('pushes', 'Deliveries', equivalent(log),
        !state.isReadOnly && this.#send(),
        pushes.length ? this.#log(pushes) : empty('No notification was sent to this push server.', commandLine(['push']))),
      section('tokens', 'Device tokens', null, tokens.length ? this.#tokens(tokens)
        : empty('No app or widget has a device token. A device asks for one when a widget with a push handler is placed.', commandLine(['token', 'list']))),
      section('answers', 'Answers on demand', null, h('p.dim', 'The next requests of providers get these responses instead of their own.'),
        answers?.length ? h('ul.answers', answers.map(answer => h('li', h('strong', `${answer.status} ${answer.reason ?? ''}`), ` for ${plural(answer.remaining, 'request')}`))) : h('p', 'None is set.'),
        !state.isReadOnly && this.#answer(reasons),
        h('details', h('summary', `All ${reasons.length} reasons`), this.#reasons(reasons))),
      section('diagnoses', 'Diagnoses', equivalent(commandLine(['diagnose'])),
        diagnoses.length ? h('ol.cards.wide', diagnoses.map(diagnosis => this.#diagnosis(diagnosis)))
          : empty('No mistake was found in what the journal has. WidgetLab watches for reload loops, completions that are never called, and more.', commandLine(['diagnose', '--list']))),
    ]
  }

  #send() {
    const apps = [...new Set(state.addresses.map(address => address.match(/(?:^|\/)app\/(.+)$/)?.[1]).filter(Boolean))]
    return actionForm('push', 'Push', [
      { name: 'app', label: 'App', options: apps.length ? apps : [['', 'the only app']] }, { name: 'type', label: 'Type', options: types },
      { name: 'priority', label: 'Priority', options: [['', 'default'], '10', '5', '1'] },
    ], ({ app, type, priority }) => ['push', ...app ? [app] : [], '--type', type, ...priority ? ['--priority', priority] : []], { kind: 'primary', name: 'Send a push' })
  }

  #log(pushes) {
    return grid('Deliveries', ['No.', 'Accepted', 'Type', 'To', 'Response', 'Last step', 'Took', 'Trace'], pushes.map(push => this.#push(push)))
  }

  #push(push) {
    const first = push.steps[0]
    const last = push.steps.at(-1)
    const isOpen = this.opened.has(push.id)
    return h('tbody', { 'data-key': push.id, 'data-scope': push.id },
      h('tr',
        h('th', { scope: 'row' }, h('button', {
          class: 'disclose', 'data-row': '', 'aria-expanded': String(isOpen), 'aria-label': `Push ${push.number}: steps`,
          onclick: () => {
            if (isOpen) this.opened.delete(push.id)
            else this.opened.add(push.id)
            this.app.render()
          },
        }, `${isOpen ? '▾' : '▸'} ${push.number}`)),
        h('td', first ? moment(first.at) : '–'), h('td', push.type ?? '–'), h('td', push.subject ?? '–'),
        h('td', h('span', { class: push.status === 200 ? 'state good' : 'state bad', title: push.meaning }, `${push.status}${push.reason ? ` ${push.reason}` : ''}`), push.rule && h('span.rule', ` ${push.rule}`)),
        h('td', last ? `${last.name}${last.detail ? ` ${last.detail}` : ''}` : '–'), h('td', first && last ? duration(last.at - first.at) : '–'),
        h('td', push.trace ? h('a', { href: `/traces/${push.trace}` }, 'trace') : '–')),
      isOpen && h('tr.more', h('td', { colspan: '8' },
        push.meaning && h('p', push.meaning, push.rule && h('span.rule', ` ${push.rule}`)),
        h('ol.steps', push.steps.map((step, index) => h('li', h('time', { datetime: String(step.at) }, clock(step.at)),
          h('span.dim', index ? ` +${duration(step.at - push.steps[index - 1].at)} ` : ' '), h('strong', step.name), step.detail ? ` ${step.detail}` : ''))),
        equivalent(commandLine(['push', 'log', push.id])))))
  }

  #tokens(tokens) {
    return grid('Device tokens', ['Bundle', 'Use', 'Environment', 'State', 'Token'], tokens.map(token => h('tr', { 'data-key': token.token }, h('th', { scope: 'row' }, token.bundle), h('td', token.use), h('td', token.environment),
        h('td', h('span', { class: token.state === 'active' ? 'state good' : 'state' }, token.state)),
        h('td', h('code.token', { title: token.token }, `${token.token.slice(0, 16)}…`), ' ', copyButton(token.token, 'Copy', { 'aria-label': `Copy the token of ${token.bundle} (${token.use})` })))))
  }

  #answer(reasons) {
    const options = [['200 ', '200 (the normal response)'], ...reasons.map(reason => [`${reason.status} ${reason.reason}`, `${reason.status} ${reason.reason}`])]
    return h('div.toolbar', actionForm('answer', 'Set', [
      { name: 'reason', label: 'Response', options }, { name: 'times', label: 'Times', type: 'number', min: '1', value: '1', size: 4 },
      { name: 'latency', label: 'Latency (s)', type: 'number', min: '0', step: 'any', placeholder: '0', size: 5 },
    ], ({ reason, times, latency }) => Number(times) > 0 ? ['apns', 'answer', ...reason.trim().split(' '), '--times', times, ...Number(latency) > 0 ? ['--latency', latency] : []] : null, { name: 'Answer on demand' }),
    action('Remove all', ['apns', 'answer', '200', '--times', '0']))
  }

  #reasons(reasons) {
    return grid('Reasons', ['Status#', 'Reason', 'Meaning', 'Rule'], reasons.map(reason => h('tr', { 'data-key': reason.reason }, h('td.number', String(reason.status)), h('th', { scope: 'row' }, reason.reason),
        h('td', reason.meaning ?? ''), h('td.rule', reason.rule ?? ''))))
  }

  #diagnosis(diagnosis) {
    return h('li', { class: `card severity-${diagnosis.severity}`, 'data-key': `${diagnosis.code} ${diagnosis.process} ${diagnosis.subject}`, 'data-scope': `${diagnosis.code} ${diagnosis.subject}` },
      h('h3', h('span', { class: `state ${{ error: 'bad', warning: 'warn' }[diagnosis.severity] ?? ''}` }, diagnosis.severity), ` ${diagnosis.title} `,
        h('span.dim', diagnosis.code), diagnosis.times > 1 && h('span.dim', ` ${diagnosis.times} times`)),
      h('p', diagnosis.what),
      h('p.dim', h('span', { class: role(diagnosis.process) }, shortName(diagnosis.process)), diagnosis.subject ? ` · ${diagnosis.subject}` : ''),
      h('p', h('strong', 'What to do: '), diagnosis.advice),
      diagnosis.evidence?.length ? h('details', h('summary', plural(diagnosis.evidence.length, 'message') + ' as evidence'),
        h('ul', diagnosis.evidence.map(item => h('li', item.sequence ? h('a', { 'data-row': '', href: `/bus/${item.sequence}` }, `#${item.sequence}`) : null, ` ${item.kind ?? ''} ${item.note ?? item.text ?? ''}`)))) : null,
      h('p.dim', `Rule ${diagnosis.rule} · ${diagnosis.source}`))
  }
}
