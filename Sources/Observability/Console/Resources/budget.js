// SPDX-License-Identifier: Apache-2.0
// The page "Budget and time": what each placement may spend on reloads, each decision, and the device's clock.

import './table.js'
import { choices, empty, equivalent, facts, failed, grid, h, panel, pill, room, section } from './dom.js'
import { commandLine, get, state } from './api.js'
import { action, actionForm } from './actions.js'
import { count, decimal, iso, moment, relative } from './format.js'
import { ledger, sign, verdicts } from './plot.js'

export class Budget {
  topics = ['budget']
  ticks = true

  constructor(app) { this.app = app }

  async enter(url) {
    this.placement = Number(url.pathname.split('/')[2])
    this.span = url.searchParams.get('span') ?? ''
    this.reload = Number(url.searchParams.get('reload'))
    await this.refresh()
  }

  async refresh() {
    const { reload } = this
    const [report, why] = await Promise.all([get('/api/budget'), reload ? get(`/api/reloads/${reload}`).catch(error => ({ error })) : null])
    Object.assign(this, { report, why, readAt: Date.now() / 1000 })
    this.title = this.#account ? `#${this.#account.placement} · Budget and time` : 'Budget and time'
  }

  close() { if (this.reload) this.app.go(this.#address({ reload: 0 })) }

  move(step) { document.querySelector('windowed-table')?.move(step) }

  get #account() {
    const { accounts } = this.report
    return accounts.find(({ placement }) => placement === this.placement) ?? accounts[0]
  }

  get #entries() { return this.report.entries.filter(({ placement }) => placement === this.#account.placement) }

  get #selected() { return this.#entries.findLast(entry => entry.reload === this.reload)?.number }

  /** The device's time, which runs on between two reports. */
  get #now() {
    const { clock, now } = this.report
    return !clock ? now : clock.isHeld ? clock.now : clock.now + (Date.now() / 1000 - this.readAt) * (clock.rate ?? 1)
  }

  #address({ placement = this.#account?.placement ?? '', span = this.span, reload = this.reload }) {
    const query = new URLSearchParams({ ...span ? { span } : {}, ...reload ? { reload } : {} })
    return `/budget/${placement}${query.size ? `?${query}` : ''}`
  }

  view() {
    const { policy, isDeveloperMode, accounts } = this.report
    const account = this.#account
    return [
      h('div.pagehead', h('h1', 'Budget and time'), h('span.dim', `policy: ${policy}`),
        isDeveloperMode && pill('developer mode: no budget, no spacing', 'warn', { title: 'developerMode in the settings of widgetlab.yaml' })),
      section('clock', 'Clock', null, this.#clock()),
      section('accounts', 'Placements', null, accounts.length ? this.#accounts(account)
        : empty('No widget is placed, so nothing is spent. A reload launches each extension, which declares its kinds.', commandLine('reload', '--all'))),
      account && section('ledger', `Ledger of #${account.placement} ${account.kind}`,
        choices('Time range', [['3600', '1 h'], ['', '24 h'], ['604800', '7 d']].map(([span, text]) => [span, text, this.#address({ span })]), this.span), this.#plot(account)),
      account && h(`div.split.ledgers${this.reload ? '.has-detail' : ''}`, h('div.list', h('windowed-table.entries', { 'data-own': '', 'data-key': String(account.placement) })),
        this.reload > 0 && this.#reload()),
    ]
  }

  #clock() {
    const { clock } = this.report
    const ahead = this.#now - Date.now() / 1000
    const field = (key, label, title, name, size, placeholder, valid = /./) => actionForm(key, label, title, [{ name: 'value', label: name, size, placeholder }],
      ({ value }) => valid.test(value.trim()) ? ['clock', key, value.trim()] : null)
    return [
      h('p', h('time.now', { datetime: iso(this.#now) }, moment(this.#now)), ' ', !clock ? h('span.dim', 'the host does not answer')
        : clock.isHeld ? pill('held', 'warn') : pill(clock.rate === 1 ? 'running' : `running, × ${decimal(clock.rate)}`, 'good'),
      Math.abs(ahead) > 2 && h('span.dim', ` ${relative(Math.abs(ahead)).slice(3)} ${ahead > 0 ? 'ahead of' : 'behind'} this machine`)),
      !state.isReadOnly && h('div.toolbar', { role: 'group', 'aria-label': 'Clock' }, clock?.isHeld ? action('Run', ['clock', 'run']) : action('Hold', ['clock', 'hold']),
        action('Advance 1 h', ['clock', 'advance', '1h']), action('Advance 24 h', ['clock', 'advance', '24h']),
        field('advance', 'Advance', 'Advance the clock', 'by', 9, '90s, 1d12h'), field('rate', 'Set rate', 'Rate of the clock', 'Rate', 5, '60', /^[\d.]+$/),
        field('set', 'Set', 'Set the clock', 'Time', 20, '2026-03-01T06:00:00Z'), action('Reset', ['clock', 'reset'], { confirm: 'Reset the clock?' })),
    ]
  }

  #accounts(selected) {
    const next = ({ nextBecause, withheld, next }) => !nextBecause ? '–' : withheld ? 'when the device is unlocked'
      : !next || next <= this.#now ? 'now' : h('span', { title: moment(next) }, relative(next - this.#now))
    return grid('Placements', ['Placement', 'Kind', 'Balance#', 'Per day#', 'Spent#', 'Next reload', 'Reason', !state.isReadOnly && 'Actions'], this.report.accounts.map(account => ({
      key: String(account.placement), 'aria-current': account === selected && 'true', cells: [
        h('a', { 'data-row': '', href: this.#address({ placement: account.placement, reload: 0 }) }, `#${account.placement}`), account.kind,
        h(`span.${account.balance < 1 && account.perDay ? 'bad' : ''}`, decimal(account.balance)), account.perDay ? decimal(account.perDay) : '–', count(account.spent),
        next(account), account.nextBecause ?? '–', !state.isReadOnly && h('span.actions', action('Reload', ['reload', account.kind], { hotkey: 'r', name: account.kind }))],
    })))
  }

  #plot(account) {
    const entries = this.#entries
    const to = Math.max(this.report.clock?.now ?? this.report.now, entries.at(-1)?.date ?? 0)
    return [
      h('div.drawing', ledger(account, entries, to - Number(this.span || 86400), to, room(), this.#selected, ({ reload }) => this.app.go(this.#address({ reload })))),
      h('p.legend', Object.entries(verdicts).map(([verdict, text]) => h('span', sign(verdict), text))),
    ]
  }

  mounted() {
    const table = document.querySelector('windowed-table')
    if (!table) return
    if (!table.report) {
      table.configure({ label: 'Decisions, newest first', key: ({ number }) => number, columns: [
        { name: 'reload', label: 'Reload', text: ({ reload }) => String(reload), href: ({ reload }) => this.#address({ reload }) }, { name: 'when', label: 'When', text: ({ date }) => moment(date) },
        { name: 'verdict', label: 'Verdict', text: ({ verdict }) => verdict, tone: ({ verdict }) => `verdict-${verdict}` }, { name: 'balance', label: 'Balance', text: ({ balance }) => decimal(balance) },
        { name: 'because', label: 'Because of', text: ({ because }) => because }, { name: 'rule', label: 'Rule', text: ({ rule }) => rule }, { name: 'text', label: 'What was decided', text: ({ text }) => text ?? '' },
      ] })
    }
    if (table.report !== this.report) table.setRows(this.#entries.reverse())
    table.report = this.report
    table.selected = this.#selected ?? null
  }

  #reload() {
    const { error, because, asker, outcome, lines = [] } = this.why ?? {}
    const date = ({ number, date }) => {
      const sequence = this.report.entries.find(entry => entry.number === number)?.sequence
      return sequence ? h('a', { href: `/bus/${sequence}` }, moment(date)) : moment(date)
    }
    return panel('reload', `Reload ${this.reload}`, () => this.close(), failed(error), facts([['Because of', because], ['Requested by', asker], ['Outcome', outcome]]),
      h('ol', lines.map(entry => h('li', sign(entry.verdict), ' ', date(entry), ` ${entry.text ?? `${entry.verdict}: ${entry.rule}`}`, h('span.dim', ` balance ${decimal(entry.balance)}`)))),
      equivalent(commandLine('why', String(this.reload))))
  }
}
