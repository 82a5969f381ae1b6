// SPDX-License-Identifier: Apache-2.0
// The page "Screen": each widget of a screen of the device at its place, why it is no newer, and what a user can do.

import { empty, failed, h, kbd, pill, section } from './dom.js'
import { commandLine, get, state } from './api.js'
import { action, actionForm } from './actions.js'
import { moment, words } from './format.js'

const familyName = name => words(name.replace(/^(system|accessory)/, '').replace(/^./, first => first.toLowerCase())).toLowerCase()

/** The bundle identifiers of the apps. */
export const apps = () => [...new Set(state.addresses.map(address => address.match(/(?:^|\/)app\/(.+)$/)?.[1]).filter(Boolean))]

export class Screen {
  topics = ['screen']
  chosen = null

  constructor(app) { this.app = app }

  async enter(url) {
    this.location = url.searchParams.get('location')
    await this.refresh()
  }

  async refresh() {
    const { location } = this
    const [report, gallery] = await Promise.all([get('/api/screen', { location }), get('/api/gallery').catch(error => ({ widgets: [], error }))])
    if (location === this.location) Object.assign(this, { report, gallery })
  }

  view() {
    const { location, locations, notice, size, source, state: device, textSize, textSizes, tiles } = this.report
    const visible = locations.find(each => each.isVisible)?.name
    return [
      h('div.pagehead', h('h1', words(location)), h('span.dim', device?.text), source === 'journal' && pill('from the journal', 'warn', { title: 'The host does not answer; this is what the journal has.' }),
        !state.isReadOnly && h('span.hints', kbd('t'), ' tap ', kbd('r'), ' reload ', kbd('p'), ' push ', kbd('x'), ' remove')),
      notice && h('p.notice', notice),
      h('nav.choices', { 'aria-label': 'Screens' }, locations.map(({ name }) => h('a', { href: `/screen?location=${name}`, 'aria-current': name === location && 'page' },
        words(name), name === visible && h('span.good', ' visible')))),
      !state.isReadOnly && h('div.toolbar', { role: 'group', 'aria-label': 'Device' },
        device?.isLocked ? action('Unlock', ['unlock']) : action('Lock', ['lock']), location !== visible && action(`Look at ${words(location)}`, ['look', location]),
        action('Display off', ['look', 'off']), action('Always-On', ['look', 'alwaysOn']),
        ['light', 'dark'].filter(scheme => scheme !== device?.colorScheme).map(scheme => action(`Appearance: ${scheme}`, ['look', scheme])),
        textSizes?.length > 0 && actionForm('text-size', 'Set', 'Text size', [{ name: 'size', label: 'Text size', options: [[textSize, `${words(textSize)} (now)`],
          ...textSizes.filter(each => each !== textSize).map(each => [each, words(each)])] }], ({ size }) => ['setting', 'text-size', size])),
      h('div.screen', { style: { '--width': String(size.width), '--height': String(size.height) } }, this.#device(),
        tiles.length ? h('ol.cards', { 'aria-label': 'Placements' }, tiles.map(tile => this.#card(tile)))
          : empty(`No widget is placed on ${words(location).toLowerCase()}.`, commandLine('add', this.gallery.widgets[0]?.kind ?? 'KIND', '--location', location))),
      !state.isReadOnly && this.#add(),
    ]
  }

  #device() {
    const { size, tiles, state: device } = this.report
    const covered = tiles.flatMap(({ covers }) => covers ?? [])
    const share = (part, whole) => `${(part / whole * 100).toFixed(3)}%`
    return h(`div.device.${device?.colorScheme}`, tiles.filter(({ placement }) => !covered.includes(placement)).map(({ placement, kind, picture, alt, x, y, width, height }) => h('button.tile', {
      'data-key': String(placement), 'aria-pressed': String(this.chosen === placement), title: `#${placement} ${kind}`,
      style: { left: share(x, size.width), top: share(y, size.height), width: share(width, size.width), height: share(height, size.height) },
      onclick: () => {
        this.#choose(placement)
        document.getElementById(`placement-${placement}`).querySelector('a').focus()
      },
    }, picture ? h('img', { src: picture, alt: alt || `${kind} without text` }) : alt || kind)))
  }

  #choose(placement) {
    if (this.chosen === placement) return
    this.chosen = placement
    this.app.render()
  }

  #card({ placement, kind, family, bundle, content, why, covers, alt, date, notices = [], controls = [], isControl }) {
    const number = String(placement)
    const top = this.report.tiles.find(other => other.covers?.includes(placement))
    // The bundle identifier of an extension begins with that of its app.
    const app = apps().filter(each => bundle === each || bundle.startsWith(`${each}.`)).slice(0, 1)
    return h(`li.card${this.chosen === placement ? '.chosen' : ''}`, { id: `placement-${number}`, 'data-key': number, 'data-scope': `placement ${number}` },
      h('h2', h('a', { 'data-row': '', href: `/budget/${number}`, title: 'Budget of this placement', onfocus: () => this.#choose(placement) }, `#${number} ${kind}`),
        h('span.dim', isControl ? 'control' : familyName(family)), pill(content, content === 'entry' ? 'good' : 'warn')),
      h('p', why, covers?.length > 0 && ` It covers ${covers.map(each => `#${each}`).join(', ')} of its stack.`, top && ` It is behind #${top.placement} in a stack.`),
      (alt || date) && h('p.dim', alt && `“${alt}” `, date && `entry of ${moment(date)}`), notices.map(text => h('p.notice', text)),
      !state.isReadOnly && h('div.toolbar', action('Tap', ['tap', number], { hotkey: 't', name: `#${number}` }),
        controls.map(({ type, label, number: index }) => action(`${words(type)}: ${label || index}`, ['tap', number, ...type === 'link' ? ['--link', label] : ['--button', String(index)]])),
        !isControl && action('Reload', ['reload', kind], { hotkey: 'r', name: kind }),
        action('Push', ['push', ...app, ...isControl ? ['--type', 'controls', '--control', number] : []], { hotkey: 'p', name: `#${number}` }),
        top && action('Turn to it', ['turn', number]), action('Remove', ['remove', number], { hotkey: 'x', confirm: 'Remove it?', kind: 'danger', name: `#${number}` })),
      !state.isReadOnly && h('details', h('summary', 'Configure'), actionForm(`edit-${number}`, 'Edit', `Configure #${number}`,
        [{ name: 'choice', label: 'Choice', placeholder: 'name=value' }], ({ choice }) => /.=/.test(choice) ? ['edit', number, '--set', choice] : null)))
  }

  #add() {
    const { widgets, error } = this.gallery
    const { location, tiles } = this.report
    const items = ({ kind, bundle, locations }) => [...locations].sort((a, b) => (b.name === location) - (a.name === location)).flatMap(({ name, families }) =>
      families.map(family => [JSON.stringify([kind, '--family', family, '--location', name, '--bundle', bundle]), `${words(name)}, ${familyName(family)}`]))
    const groups = widgets.filter(({ locations }) => locations.length).map(widget => [`${widget.displayName} (${widget.kind})`, items(widget)])
    const stacks = tiles.filter(({ isControl }) => !isControl).map(({ placement, kind }) => [String(placement), `on #${placement} ${kind}`])
    return section('gallery', 'Add a widget', null, failed(error),
      groups.length ? actionForm('add', 'Add', 'Add a widget', [{ name: 'widget', label: 'Widget', groups }, { name: 'stack', label: 'Stack', options: [['', 'a place of its own'], ...stacks] }],
        ({ widget, stack }) => ['add', ...JSON.parse(widget), ...stack ? ['--stack', stack] : []], 'primary')
        : !error && h('p.dim', 'The gallery is empty: an extension announces its widgets when it is launched.'),
      widgets.filter(({ problem }) => problem).map(({ kind, problem }) => h('p.dim', h('strong', kind), ` ${problem}`)))
  }
}
