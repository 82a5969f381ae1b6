// SPDX-License-Identifier: Apache-2.0
// The page "Pushes and diagnoses".

import {clock, copyButton, duration, empty, equivalent, grid, h, moment, Page, pagehead, pill, plural, role, section} from './dom.js'
import {action, actionForm, commandLine, get, state, toolbar} from './api.js'
import {apps} from './screen.js'

export class Pushes extends Page {
	topics = ['pushes', 'diagnoses']
	opened = new Set()

	enter() {return this.report ? null : this.refresh(new Set(this.topics))}

	async refresh(topics) {
		const [report, {diagnoses}] = await Promise.all([topics.has('pushes') ? get('/api/pushes', {limit: 50}) : this.report, topics.has('diagnoses') ? get('/api/diagnoses') : this])
		Object.assign(this, {report, diagnoses})
	}

	view() {
		const {pushes, tokens, answers = [], reasons, isReachable} = this.report
		const {diagnoses} = this
		return [
			pagehead('Pushes and diagnoses'),
			!isReachable && !state.isReadOnly && h('p.notice', 'The push server does not answer: the log and the tokens may be old.'),
			section('pushes', 'Deliveries', equivalent(commandLine('push', 'log')),
				actionForm('push', 'Push', 'Send a push', [{name: 'app', label: 'App', options: apps().length ? apps() : [['', 'the only app']]}, {name: 'type', label: 'Type', options: ['widgets', 'alert', 'background', 'controls']}],
				({app, type}) => ['push', ...app ? [app] : [], '--type', type], 'primary'),
				pushes.length ? grid('Deliveries', ['No.', 'Accepted', 'Type', 'To', 'Response', 'Last step', 'Took#', 'Trace'], pushes.map(push => this.#push(push)))
					: empty('No notification was sent to this push server.', commandLine('push'))),
			section('tokens', 'Device tokens', null, tokens.length ? grid('Device tokens', ['Bundle', 'Use', 'Environment', 'State', 'Token'], tokens.map(({token, bundle, use, environment, state}) => ({
				key: token, cells: [bundle, use, environment, pill(state, state === 'active' ? 'good' : ''), [h('code', {title: token}, `${token.slice(0, 16)}…`), copyButton(token, 'Copy', {'aria-label': `Copy the token of ${bundle} (${use})`})]],
			}))) : empty('No device token: a device asks for one when a widget with a push handler is placed.', commandLine('token', 'list'))),
			section('answers', 'Answers on demand', null, h('p.dim', 'The next requests of providers get these responses instead of their own.'),
				answers.length ? h('ul', answers.map(({status, reason, remaining}) => h('li', h('strong', `${status} ${reason ?? ''}`), ` for ${plural(remaining, 'request')}`))) : h('p', 'None is set.'),
				toolbar('Answers', actionForm('answer', 'Set', 'Answer on demand', [
					{name: 'reason', label: 'Response', options: reasons.map(({status, reason}) => `${status} ${reason}`)},
					{name: 'times', label: 'Times', inputmode: 'numeric', value: '1', size: 3},
				], ({reason, times}) => times > 0 ? ['apns', 'answer', ...reason.split(' '), '--times', times] : null),
				action('Remove all', ['apns', 'answer', '200', '--times', '0'])),
				h('details', h('summary', `All ${reasons.length} reasons`), grid('Reasons', ['Reason', 'Status#', 'Meaning', 'Rule'], reasons.map(({status, reason, meaning, rule}) => ({
					key: reason + status, cells: [reason, String(status), meaning ?? '', rule ?? '']}))))),
			section('diagnoses', 'Diagnoses', equivalent(commandLine('diagnose')), diagnoses.length ? h('ol.cards', diagnoses.map(diagnosis => this.#diagnosis(diagnosis)))
				: empty('No mistake was found in the code of the widget and its app.', commandLine('diagnose', '--list'))),
		]
	}

	#push({number, id, type, subject, status, reason, meaning, rule, steps, trace}) {
		const isOpen = this.opened.has(id)
		const [first, last] = [steps[0], steps.at(-1)]
		return {key: id, cells: [
			h('button.quiet', {'aria-expanded': String(isOpen), 'aria-label': `Push ${number}: steps`, onclick: () => {
				if (!this.opened.delete(id)) this.opened.add(id)
				this.app.render()
			}}, `${isOpen ? '▾' : '▸'} ${number}`),
			first ? moment(first.at) : '–', type ?? '–', subject ?? '–', [pill(`${status} ${reason ?? ''}`, status === 200 ? 'good' : 'bad', {title: meaning}), h('span.dim', ` ${rule ?? ''}`)],
			last ? `${last.name} ${last.detail ?? ''}` : '–', last ? duration(last.at - first.at) : '–', trace ? h('a', {href: `/traces/${trace}`, 'aria-label': `Trace of push ${number}`}, 'trace') : '–',
		], more: isOpen && [
			meaning && h('p', meaning),
			h('ol', steps.map(({name, at, detail}, index) => h('li', clock(at), h('span.dim', index ? ` +${duration(at - steps[index - 1].at)} ` : ' '), h('strong', name), ` ${detail ?? ''}`))),
			equivalent(commandLine('push', 'log', id))]}
	}

	#diagnosis({code, severity, title, process, subject, what, evidence = [], rule, source, advice, times}) {
		const key = `${code} ${process} ${subject}`
		return h(`li.card.severity-${severity}`, {'data-key': key},
			h('h3', pill(severity, {error: 'bad', warning: 'warn'}[severity]), ` ${title} `, h('span.dim', code, times > 1 && ` ${times} times`)),
			h('p', what), h('p.dim', h(`span.${role(process)}`, process), subject && ` · ${subject}`), h('p', h('strong', 'What to do: '), advice),
			evidence.length > 0 && h('details', h('summary', plural(evidence.length, 'message'), ' as evidence'),
				h('ul', evidence.map(({sequence, text}) => h('li', h('a', {href: `/bus/${sequence}`}, `#${sequence}`), ` ${text ?? ''}`)))),
			h('p.dim', `Rule ${rule} · ${source}`))
	}
}
