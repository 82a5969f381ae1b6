// SPDX-License-Identifier: Apache-2.0
// The page "Screen": each widget at its place, why it is no newer, and what a user can do.

import {byId, empty, failed, h, moment, Page, pagehead, pill, section, words} from './dom.js'
import {action, actionForm, commandLine, get, state, toolbar} from './api.js'

const familyName = name => words(name.replace(/^(system|accessory)/, '').replace(/^./, first => first.toLowerCase())).toLowerCase()

/** The bundle identifiers of the apps. */
export const apps = () => [...new Set(state.addresses.map(address => address.match(/(?:^|\/)app\/(.+)$/)?.[1]).filter(Boolean))]

export class Screen extends Page {
	topics = ['screen']
	chosen = null

	async enter(url) {
		this.location = url.searchParams.get('location')
		await this.refresh()
	}

	async refresh() {
		const {location} = this
		const [report, gallery] = await Promise.all([get('/api/screen', {location}), get('/api/gallery').catch(error => ({widgets: [], error}))])
		if (location === this.location) Object.assign(this, {report, gallery})
	}

	view() {
		const {location, locations, notice, size, source, state: device, textSize, textSizes, tiles} = this.report
		const visible = locations.find(each => each.isVisible)?.name
		return [
			pagehead(words(location), h('span.dim', device?.text), source === 'journal' && pill('from the journal', 'warn')),
			notice && h('p.notice', notice),
			h('nav.choices', {'aria-label': 'Screens'}, locations.map(({name}) => h('a', {href: `/screen?location=${name}`, 'aria-current': name === location && 'page'},
				words(name), name === visible && h('span.good', ' visible')))),
			toolbar('Device',
				device?.isLocked ? action('Unlock', ['unlock']) : action('Lock', ['lock']), location !== visible && action(`Look at ${words(location)}`, ['look', location]),
				['light', 'dark'].filter(scheme => scheme !== device?.colorScheme).map(scheme => action(`Appearance: ${scheme}`, ['look', scheme])),
				textSizes?.length > 0 && actionForm('text-size', 'Set', 'Text size', [{name: 'size', label: 'Text size', options: [[textSize, `${words(textSize)} (now)`],
					...textSizes.filter(each => each !== textSize).map(each => [each, words(each)])]}], ({size}) => ['setting', 'text-size', size])),
			h('div.screen', {style: {'--width': String(size.width), '--height': String(size.height)}}, this.#device(),
				h('div.cards', tiles.length ? h('ol.cards', {'aria-label': 'Placements'}, tiles.map(tile => this.#card(tile)))
					: empty(`No widget is placed on ${words(location)}.`, commandLine('add', this.gallery.widgets[0]?.kind ?? 'KIND', '--location', location)),
				!state.isReadOnly && this.#add())),
		]
	}

	#device() {
		const {size, tiles, state: device} = this.report
		const covered = tiles.flatMap(({covers}) => covers ?? [])
		const share = (part, whole) => `${(part / whole * 100).toFixed(3)}%`
		return h(`div.device.${device?.colorScheme}`, tiles.filter(({placement, width}) => width && !covered.includes(placement)).map(({placement, kind, picture, alt, x, y, width, height}) => h('button.tile', {
			'data-key': String(placement), 'aria-pressed': String(this.chosen === placement), title: `#${placement} ${kind}`,
			style: {left: share(x, size.width), top: share(y, size.height), width: share(width, size.width), height: share(height, size.height)},
			onclick: () => {
				this.#choose(placement)
				byId(`placement-${placement}`).querySelector('a').focus()
			},
		}, picture ? h('img', {src: picture, alt: alt || `${kind} without text`}) : alt || kind)))
	}

	#choose(placement) {
		if (this.chosen === placement) return
		this.chosen = placement
		this.app.render()
	}

	#card({placement, kind, family, bundle, content, why, covers, alt, date, notices = [], controls = [], isControl}) {
		const number = String(placement)
		const top = this.report.tiles.find(other => other.covers?.includes(placement))
		// The bundle identifier of an extension begins with that of its app.
		const app = apps().filter(each => bundle === each || bundle.startsWith(`${each}.`)).slice(0, 1)
		return h(`li.card${this.chosen === placement ? '.chosen' : ''}`, {id: `placement-${number}`, 'data-key': number},
			h('h2', h('a', {href: `/budget/${number}`, onfocus: () => this.#choose(placement)}, `#${number} ${kind}`),
				h('span.dim', isControl ? 'control' : familyName(family)), pill(content, content === 'entry' ? 'good' : 'warn')),
			h('p', why, covers?.length > 0 && ` It covers ${covers.map(each => `#${each}`).join(', ')} of its stack.`, top && ` It is behind #${top.placement} in a stack.`),
			(alt || date) && h('p.dim', alt && `“${alt}” `, date && `entry of ${moment(date)}`), notices.map(text => h('p.notice', text)),
			toolbar(`Placement ${number}`, action('Tap', ['tap', number], {hotkey: 't', name: `#${number}`}),
				controls.map(({type, label, number: index}) => action(`${words(type)}: ${label || index}`, ['tap', number, ...type === 'link' ? ['--link', label] : ['--button', String(index)]])),
				!isControl && action('Reload', ['reload', kind], {hotkey: 'r', name: kind}),
				action('Push', ['push', ...app, ...isControl ? ['--type', 'controls', '--control', number] : []], {hotkey: 'p', name: `#${number}`}),
				top && action('Turn to it', ['turn', number]), action('Remove', ['remove', number], {hotkey: 'x', confirm: 'Remove it?', kind: 'danger', name: `#${number}`})))
	}

	#add() {
		const {widgets, error} = this.gallery
		const problems = widgets.filter(({problem}) => problem)
		const {location} = this.report
		const options = widgets.flatMap(({kind, bundle, displayName, locations}) => locations.flatMap(({name, families}) => families.map(family =>
			[JSON.stringify([kind, '--family', family, '--location', name, '--bundle', bundle]), `${displayName}: ${words(name)}, ${familyName(family)}`])))
		options.sort((a, b) => b[0].includes(`"${location}"`) - a[0].includes(`"${location}"`))
		return section('gallery', 'Add a widget', null, failed(error),
			options.length ? actionForm('add', 'Add', 'Add a widget', [{name: 'widget', label: 'Widget', options}],
				({widget}) => ['add', ...JSON.parse(widget)], 'primary')
				: !error && h('p.dim', 'No widget can be added before its app was opened.'),
			problems.map(({kind, problem}) => h('p.dim', h('strong', kind), ` ${problem}`)),
			problems.length > 0 && toolbar('App', action('Open the app', ['app', 'open'])))
	}
}
