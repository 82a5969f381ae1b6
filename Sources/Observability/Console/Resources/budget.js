// SPDX-License-Identifier: Apache-2.0
// The page "Budget and time": what each placement may spend on reloads, each decision, and the device's clock.

import './table.js'
import { empty, equivalent, grid, h, section } from './dom.js'
import { commandLine, get, state } from './api.js'
import { action, actionForm } from './actions.js'
import { count, decimal, iso, moment, relative } from './format.js'
import { ledger, sign, verdicts } from './plot.js'

const spans = [['3600', '1 h'], ['', '24 h'], ['604800', '7 d']]

export class Budget {
  topics = ['budget']
  ticks = true
  placement = null
  reload = null

  constructor(app) { this.app = app }

  async enter(url) {
    this.placement = Number(url.pathname.split('/')[2]) || null
    this.span = url.searchParams.get('span') ?? ''
    this.title = this.placement ? `Placement ${this.placement} · Budget and time` : 'Budget and time'
    const reload = Number(url.searchParams.get('reload')) || null
    if (!this.report) await this.refresh()
    if (reload !== this.reload || reload) await this.#why(reload)
  }

  async refresh() {
    this.report = await get('/api/budget')
    this.readAt = Date.now() / 1000
    if (this.reload) await this.#why(this.reload)
  }

  async #why(reload) {
    this.reload = reload
    this.why = null
    this.whyError = null
    if (!reload) return
    try {
      this.why = await get(`/api/reloads/${reload}`)
    } catch (error) {
      this.whyError = error
    }
  }

  close() {
    if (this.reload) this.app.go(this.#address({ reload: null }))
  }

  move(step) { document.querySelector('windowed-table.entries')?.move(step) }

  get #account() {
    const { accounts } = this.report
    return accounts.find(account => account.placement === this.placement) ?? accounts[0]
  }

  /** The device's time now, as its clock runs on between two reports. */
  get #now() {
    const { clock, now } = this.report
    if (!clock) return now
    return clock.isHeld ? clock.now : clock.now + (Date.now() / 1000 - this.readAt) * (clock.rate ?? 1)
  }

  #address({ placement = this.#account?.placement, span = this.span, reload = this.reload }) {
    const query = new URLSearchParams()
    if (span) query.set('span', span)
    if (reload) query.set('reload', reload)
    return `/budget${placement ? `/${placement}` : ''}${query.size ? `?${query}` : ''}`
  }

  view() {
    const { report } = this
    const account = this.#account
    return [
      h('div.pagehead', h('h1', 'Budget and time'),
        h('span.range', `policy: ${report.policy}`),
        report.isDeveloperMode && h('span.pill.warn', { title: 'developerMode in the settings of widgetlab.yaml' }, 'developer mode: no budget, no spacing')),
      this.#clock(),
      section('accounts', 'Placements', null, report.accounts.length ? this.#accounts(account)
        : empty('No widget is placed, so nothing is spent on reloads. A reload launches each extension, which declares its kinds.', commandLine(['reload', '--all']))),
      account && section('ledger', `Ledger of #${account.placement} ${account.kind}`,
        h('div.choices', { role: 'group', 'aria-label': 'Time range' }, spans.map(([value, label]) =>
          h('a', { href: this.#address({ span: value }), 'aria-current': value === this.span && 'true' }, label))),
        this.#plot(account)),
      account && h('div', { class: this.reload ? 'split has-detail ledgers' : 'split ledgers' }, h('div.list',
        h('windowed-table', { class: 'entries', 'data-own': '', 'data-key': `entries ${account.placement}` })), this.reload && this.#reloadView()),
    ]
  }

  #clock() {
    const { clock } = this.report
    const isAhead = clock && Math.abs(this.#now - Date.now() / 1000) > 2
    return section('clock', 'Clock', null, h('div.clock',
      h('p', h('time.now', { datetime: iso(this.#now) }, moment(this.#now)), ' ',
        clock ? h('span', { class: clock.isHeld ? 'pill warn' : 'pill good' }, clock.isHeld ? 'held' : clock.rate === 1 ? 'running' : `running, × ${decimal(clock.rate)}`)
          : h('span.dim', 'the host does not answer'),
        clock?.text && h('span.dim', ` ${clock.text}`),
        isAhead && h('span.dim', ` ${relative(this.#now - Date.now() / 1000).replace(/^in (.*)/, '$1 ahead of').replace(/ ago$/, ' behind')} this machine`)),
      !state.isReadOnly && h('div.toolbar', { role: 'group', 'aria-label': 'Clock' },
        clock?.isHeld ? action('Run', ['clock', 'run']) : action('Hold', ['clock', 'hold']),
        action('Advance 1 h', ['clock', 'advance', '1h']), action('Advance 24 h', ['clock', 'advance', '24h']),
        actionForm('advance', 'Advance', [{ name: 'by', label: 'by', placeholder: '90s, 5m, 1d12h', size: 9, required: true }], ({ by }) => by.trim() ? ['clock', 'advance', by.trim()] : null, { name: 'Advance the clock' }),
        actionForm('rate', 'Set rate', [{ name: 'rate', label: 'Rate', placeholder: '60', size: 5, inputmode: 'decimal', required: true }], ({ rate }) => Number(rate) > 0 ? ['clock', 'rate', rate.trim()] : null, { name: 'Rate of the clock' }),
        actionForm('set', 'Set', [{ name: 'time', label: 'Time', placeholder: '2026-03-01T06:00:00Z', size: 20, required: true }], ({ time }) => time.trim() ? ['clock', 'set', time.trim()] : null, { name: 'Set the clock' }),
        action('Reset', ['clock', 'reset'], { confirm: 'Reset the clock?' }))))
  }

  #accounts(selected) {
    return grid('Accounts', ['Placement', 'Kind', 'Balance#', 'Per day#', 'Spent#', 'Next reload', 'Reason', !state.isReadOnly && 'Actions'],
      this.report.accounts.map(account => h('tr', {
        'data-key': String(account.placement), 'data-scope': `account ${account.placement}`, 'aria-current': account === selected && 'true',
      },
      h('th', { scope: 'row' }, h('a', { 'data-row': '', href: this.#address({ placement: account.placement, reload: null }) }, `#${account.placement}`)),
      h('td', account.kind), h('td', { class: account.balance < 1 && account.perDay ? 'number bad' : 'number' }, decimal(account.balance)),
      h('td.number', account.perDay ? decimal(account.perDay) : '–'), h('td.number', count(account.spent)),
      h('td', this.#next(account)), h('td', account.nextBecause ?? '–'),
      !state.isReadOnly && h('td.actions', action('Reload', ['reload', account.kind], { hotkey: 'r', name: account.kind })))))
  }

  #next(account) {
    if (!account.nextBecause) return '–'
    if (account.withheld) return 'when the device is unlocked'
    return !account.next || account.next <= this.#now ? 'now' : h('span', { title: moment(account.next) }, relative(account.next - this.#now))
  }

  #plot(account) {
    const entries = this.report.entries.filter(entry => entry.placement === account.placement)
    const to = Math.max(this.#nowOfPlot, entries.at(-1)?.date ?? 0)
    const width = Math.max(280, document.getElementById('main').clientWidth - 56)
    return [
      h('div.drawing', ledger(account, entries, to - Number(this.span || 86400), to, width, this.#selectedEntry(entries)?.number,
        entry => this.app.go(this.#address({ reload: entry.reload })))),
      h('p.legend', Object.entries(verdicts).map(([verdict, text]) => h('span', sign(verdict), text))),
    ]
  }

  // The plot moves with each report, and not with each second.
  get #nowOfPlot() { return this.report.clock?.now ?? this.report.now }

  #selectedEntry(entries) { return entries.findLast(entry => entry.reload === this.reload) }

  mounted() {
    const table = document.querySelector('windowed-table.entries')
    const account = this.#account
    if (!table || !account) return
    if (!table.isConfigured) {
      table.configure({
        label: 'Decisions, newest first', follows: false, key: entry => entry.number, rowClass: entry => `verdict-${entry.verdict}`,
        columns: [
          { name: 'reload', label: 'Reload', text: entry => String(entry.reload), href: entry => this.#address({ reload: entry.reload }) },
          { name: 'when', label: 'When', text: entry => moment(entry.date) },
          { name: 'verdict', label: 'Verdict', text: entry => entry.verdict, tone: entry => `verdict-${entry.verdict}` },
          { name: 'balance', label: 'Balance', text: entry => decimal(entry.balance) },
          { name: 'because', label: 'Because of', text: entry => entry.because },
          { name: 'rule', label: 'Rule', text: entry => entry.rule },
          { name: 'text', label: 'What was decided', text: entry => entry.text ?? '' },
        ],
      })
    }
    if (table.report !== this.report) {
      table.report = this.report
      table.setRows(this.report.entries.filter(entry => entry.placement === account.placement).reverse())
    }
    table.selected = this.#selectedEntry(table.rows)?.number ?? null
  }

  #reloadView() {
    const { why, whyError } = this
    const line = commandLine(['why', String(this.reload)])
    return h('aside.detail', { 'data-key': 'reload', 'aria-labelledby': 'reload-title' },
      h('div.headline', h('h2', { id: 'reload-title', tabindex: '-1' }, `Reload ${this.reload}`),
        h('button', { class: 'quiet', title: 'Close (Escape)', onclick: () => this.close() }, 'Close')),
      whyError && h('p.bad', `${whyError.what}. ${whyError.advice ?? ''}`),
      why && [
        h('dl.pairs', [['Because of', why.because], ['Requested by', why.asker], ['Outcome', why.outcome]].filter(([, text]) => text).map(([term, text]) =>
          h('div', h('dt', term), h('dd', text)))),
        h('ol.decisions', why.lines.map(entry => {
          const sequence = this.report.entries.find(other => other.number === entry.number)?.sequence
          return h('li', { class: `verdict-${entry.verdict}` }, sign(entry.verdict), h('span', sequence ? h('a', { href: `/bus/${sequence}` }, moment(entry.date)) : moment(entry.date),
            ` ${entry.text ?? `${entry.verdict}: ${entry.rule}`}`, h('span.dim', ` balance ${decimal(entry.balance)}`)))
        }))],
      equivalent(line))
  }
}
