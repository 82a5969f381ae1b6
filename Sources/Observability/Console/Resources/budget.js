// SPDX-License-Identifier: Apache-2.0
// The page "Budget and time".

import {choices, count, decimal, empty, equivalent, facts, failed, grid, h, iso, moment, Page, pagehead, panel, pill, relative, room, section} from './dom.js'
import {action, actionForm, commandLine, get, state, toolbar} from './api.js'
import {ledger, sign, verdicts} from './plot.js'

export class Budget extends Page {
	topics = ['budget']
	ticks = []

	async enter(url) {
		this.placement = Number(url.pathname.split('/')[2])
		this.span = url.searchParams.get('span') ?? ''
		this.reload = Number(url.searchParams.get('reload'))
		await this.refresh()
	}

	async refresh() {
		const {reload} = this
		const [report, why] = await Promise.all([get('/api/budget'), reload ? get(`/api/reloads/${reload}`).catch(error => ({error})) : null])
		Object.assign(this, {report, why, readAt: Date.now() / 1000})
		this.title = this.#account ? `#${this.#account.placement} · Budget and time` : 'Budget and time'
	}

	close() {if (this.reload) this.app.go(this.#address({reload: 0}))}

	move(step) {list()?.move(step)}

	get #account() {
		const {accounts} = this.report
		return accounts.find(({placement}) => placement === this.placement) ?? accounts[0]
	}

	get #entries() {return this.report.entries.filter(({placement}) => placement === this.#account.placement)}

	get #selected() {return this.#entries.findLast(entry => entry.reload === this.reload)?.number}

	/** The device's time, which runs on between two reports. */
	get #now() {
		const {clock, now} = this.report
		return !clock ? now : clock.isHeld ? clock.now : clock.now + (Date.now() / 1000 - this.readAt) * (clock.rate ?? 1)
	}

	#address({placement = this.#account?.placement ?? '', span = this.span, reload = this.reload}) {
		const query = new URLSearchParams({...span ? {span} : {}, ...reload ? {reload} : {}})
		return `/budget/${placement}${query.size ? `?${query}` : ''}`
	}

	view() {
		const {policy, isDeveloperMode, accounts} = this.report
		const account = this.#account
		return [
			pagehead('Budget and time', h('span.dim', `policy: ${policy}`),
				isDeveloperMode && pill('developer mode: no budget, no spacing', 'warn')),
			section('clock', 'Clock', null, this.#clock()),
			section('accounts', 'Placements', null, accounts.length ? this.#accounts(account)
				: empty('No widget is placed. A reload launches each extension, which declares its kinds.', commandLine('reload', '--all'))),
			account && section('ledger', `Ledger of #${account.placement} ${account.kind}`,
				choices('Time range', [['3600', '1 h'], ['', '24 h'], ['604800', '7 d']].map(([span, text]) => [span, text, this.#address({span})]), this.span), this.#plot(account)),
			account && h(`div.split.ledgers${this.reload ? '.has-detail' : ''}`, h('div.section', this.#decisions()), this.reload > 0 && this.#reload()),
		]
	}

	#clock() {
		const {clock} = this.report
		const ahead = this.#now - Date.now() / 1000
		const field = (key, label, title, name, size, placeholder, valid = /./) => actionForm(key, label, title, [{name: 'value', label: name, size, placeholder}],
			({value}) => valid.test(value.trim()) ? ['clock', key, value.trim()] : null)
		return [
			h('p', h('time.now', {datetime: iso(this.#now)}, moment(this.#now)), ' ', !clock ? h('span.dim', 'the host does not answer')
				: clock.isHeld ? pill('held', 'warn') : pill(clock.rate === 1 ? 'running' : `running, × ${decimal(clock.rate)}`, 'good'),
			Math.abs(ahead) > 2 && h('span.dim', ` ${relative(Math.abs(ahead)).slice(3)} ${ahead > 0 ? 'ahead of' : 'behind'} this machine`)),
			toolbar('Clock', clock?.isHeld ? action('Run', ['clock', 'run']) : action('Hold', ['clock', 'hold']),
				action('Advance 1 h', ['clock', 'advance', '1h']), action('Advance 24 h', ['clock', 'advance', '24h']),
				field('advance', 'Advance', 'Advance the clock', 'by', 9, '90s, 1d12h'), field('rate', 'Set rate', 'Rate of the clock', 'Rate', 5, '60', /^[\d.]+$/),
				action('Reset', ['clock', 'reset'], {confirm: 'Reset the clock?'})),
		]
	}

	#accounts(selected) {
		const next = ({nextBecause, withheld, next}) => !nextBecause ? '–' : withheld ? 'when the device is unlocked'
			: !next || next <= this.#now ? 'now' : h('span', {title: moment(next)}, relative(next - this.#now))
		return grid('Placements', ['Placement', 'Kind', 'Balance#', 'Per day#', 'Spent#', 'Next reload', 'Reason', !state.isReadOnly && 'Actions'], this.report.accounts.map(account => ({
			key: String(account.placement), 'aria-current': account === selected && 'true', cells: [
				h('a', {href: this.#address({placement: account.placement, reload: 0})}, `#${account.placement}`), account.kind,
				h(`span.${account.balance < 1 && account.perDay ? 'bad' : ''}`, decimal(account.balance)), account.perDay ? decimal(account.perDay) : '–', count(account.spent),
				next(account), account.nextBecause ?? '–', !state.isReadOnly && h('span.actions', action('Reload', ['reload', account.kind], {hotkey: 'r', name: account.kind}))],
		})))
	}

	#plot(account) {
		const entries = this.#entries
		const to = Math.max(this.report.clock?.now ?? this.report.now, entries.at(-1)?.date ?? 0)
		return [
			h('div.drawing', ledger(account, entries, to - Number(this.span || 86400), to, room(), this.#selected, ({reload}) => this.app.go(this.#address({reload})))),
			h('p.legend', Object.entries(verdicts).map(([verdict, text]) => h('span', sign(verdict), text))),
		]
	}

	#decisions() {
		const selected = this.#selected
		const entries = this.#entries.reverse()
		return [grid('Decisions', ['Reload', 'When', 'Verdict', 'Balance#', 'Because of', 'Rule', 'What was decided'], entries.slice(0, 200).map(entry => ({
			key: String(entry.number), 'aria-current': entry.number === selected && 'true', cells: [
				h('a', {href: this.#address({reload: entry.reload})}, String(entry.reload)), entry.sequence ? h('a', {href: `/bus/${entry.sequence}`}, moment(entry.date)) : moment(entry.date), h(`span.verdict-${entry.verdict}`, sign(entry.verdict), ` ${entry.verdict}`),
				decimal(entry.balance), entry.because, entry.rule, entry.text ?? ''],
		}))), entries.length > 200 && h('p.dim', `The newest 200 of ${count(entries.length)}.`)]
	}

	#reload() {
		const {error, because, asker, outcome, lines = []} = this.why ?? {}
		return panel('reload', `Reload ${this.reload}`, () => this.close(), failed(error), facts([['Because of', because], ['Requested by', asker], ['Outcome', outcome]]),
			h('ol', lines.map(entry => h('li', sign(entry.verdict), ` ${moment(entry.date)} ${entry.text ?? `${entry.verdict}: ${entry.rule}`}`, h('span.dim', ` balance ${decimal(entry.balance)}`)))),
			equivalent(commandLine('why', String(this.reload))))
	}
}
