// SPDX-License-Identifier: Apache-2.0
// The page "Screen": each widget of a screen of the device at its place, why it is no newer, and what a user can do.

import { announce, empty, h, kbd, section } from './dom.js'
import { get, state } from './api.js'
import { action, actionForm } from './actions.js'
import { moment, words } from './format.js'

const familySizes = { systemSmall: 'small', systemMedium: 'medium', systemLarge: 'large', systemExtraLarge: 'extra large' }
const familyName = name => familySizes[name] ?? words(name.replace(/^accessory/, '')).toLowerCase()

export class Screen {
  topics = ['screen']
  location = null
  chosen = null

  constructor(app) { this.app = app }

  async enter(url) {
    const location = url.searchParams.get('location')
    if (!this.report || location !== this.location) {
      this.location = location
      await this.refresh()
    }
    const number = Number(url.hash.match(/^#placement-(\d+)$/)?.[1])
    if (number) this.chosen = number
  }

  async refresh() {
    const [report, gallery] = await Promise.all([
      get('/api/screen', { location: this.location }),
      this.gallery && !this.isGalleryOld ? this.gallery : get('/api/gallery').catch(error => ({ widgets: [], error })),
    ])
    // What can be placed changes with the number of placements, and when a process was launched.
    this.isGalleryOld = report.tiles.length !== this.report?.tiles.length || !gallery.widgets.length || gallery.widgets.some(widget => widget.problem)
    this.report = report
    this.gallery = gallery
  }

  view() {
    const { report } = this
    const visible = report.locations.find(each => each.isVisible)?.name
    return [
      h('div.pagehead', h('h1', words(report.location)),
        h('span.range', report.state?.text ?? ''),
        report.source === 'journal' && h('span.pill.warn', { title: 'The host does not answer; this is what the journal has.' }, 'from the journal'),
        !state.isReadOnly && h('span.hints', kbd('t'), ' tap ', kbd('r'), ' reload ', kbd('p'), ' push ', kbd('x'), ' remove')),
      report.notice && h('p.notice', report.notice),
      h('nav.locations', { 'aria-label': 'Screens' }, h('ul', report.locations.map(each => h('li', h('a', {
        href: `/screen?location=${each.name}`, 'aria-current': each.name === report.location && 'page',
      }, words(each.name), each.name === visible && h('span.eye', { title: 'what the user sees now' }, ' visible')))))),
      !state.isReadOnly && this.#toolbar(visible),
      h('div.screen', { style: { '--device-width': String(report.size.width), '--device-height': String(report.size.height) } }, this.#device(), this.#placements()),
      !state.isReadOnly && this.#add(),
    ]
  }

  #toolbar(visible) {
    const { report } = this
    const { isLocked, colorScheme } = report.state ?? {}
    return h('div.toolbar', { role: 'group', 'aria-label': 'Device' },
      isLocked ? action('Unlock', ['unlock']) : action('Lock', ['lock']),
      report.location !== visible && action(`Look at ${words(report.location)}`, ['look', report.location]),
      action('Display off', ['look', 'off']), action('Always-On', ['look', 'alwaysOn']),
      colorScheme === 'dark' ? action('Appearance: light', ['look', 'light']) : action('Appearance: dark', ['look', 'dark']),
      report.textSizes?.length && actionForm('text-size', 'Set', [{ name: 'size', label: 'Text size', options: this.#sizes() }],
        ({ size }) => ['setting', 'text-size', size], { name: 'Text size' }))
  }

  #sizes() {
    const { textSize, textSizes } = this.report
    return [[textSize, `${words(textSize)} (now)`], ...textSizes.filter(size => size !== textSize).map(size => [size, words(size)])]
  }

  #device() {
    const { size, tiles, location, state: device } = this.report
    const covered = new Set(tiles.flatMap(tile => tile.covers ?? []))
    const percent = (part, whole) => `${(part / whole * 100).toFixed(3)}%`
    return h('div.device-column',
      h('div', { class: `device ${device?.colorScheme ?? 'light'} location-${location}`, style: { 'aspect-ratio': `${size.width} / ${size.height}` } },
        tiles.filter(tile => !covered.has(tile.placement)).map(tile => h('button', {
          class: `tile ${tile.content}`, 'data-key': `tile-${tile.placement}`, 'aria-pressed': String(this.chosen === tile.placement),
          style: { left: percent(tile.x, size.width), top: percent(tile.y, size.height), width: percent(tile.width, size.width), height: percent(tile.height, size.height) },
          title: `#${tile.placement} ${tile.kind}`, onclick: () => this.#choose(tile.placement),
        }, tile.picture ? h('img', { src: tile.picture, alt: tile.alt || `${tile.kind} without text`, draggable: 'false' })
          : h('span.textonly', tile.alt || tile.kind)))),
      !tiles.length && h('p.dim.centered', 'no widget on this screen'))
  }

  #choose(placement) {
    this.chosen = placement
    this.app.render()
    const card = document.getElementById(`placement-${placement}`)
    card?.scrollIntoView({ block: 'nearest' })
    card?.querySelector('[data-row]')?.focus({ preventScroll: true })
    announce(`Placement ${placement}`)
  }

  #placements() {
    const { tiles, location } = this.report
    if (!tiles.length) {
      const widget = this.gallery.widgets.find(each => each.locations.some(place => place.name === location))
      return h('div.cards', empty(`No widget is placed on ${words(location).toLowerCase()}. Add one:`, `widgetlab add ${widget?.kind ?? 'KIND'} --location ${location}${state.commandSuffix}`))
    }
    return h('ol.cards', { 'aria-label': 'Placements' }, tiles.map(tile => this.#card(tile)))
  }

  #card(tile) {
    const number = String(tile.placement)
    const covers = tile.covers?.length ? ` It covers ${tile.covers.map(each => `#${each}`).join(', ')}.` : ''
    const top = this.report.tiles.find(other => other.covers?.includes(tile.placement))
    return h('li', {
      id: `placement-${number}`, class: `card${this.chosen === tile.placement ? ' chosen' : ''}`, 'data-key': number, 'data-scope': `placement ${number}`,
    },
    h('h2', h('a', { 'data-row': '', href: `/budget/${number}`, title: 'Budget of this placement', onfocus: () => this.#mark(tile.placement) }, h('span.number', `#${number}`), ` ${tile.kind}`),
      h('span.family', tile.isControl ? 'control' : familyName(tile.family)), h('span', { class: `state content-${tile.content}` }, tile.content)),
    h('p.why', tile.why, covers, top && ` Behind #${top.placement} in a stack.`),
    (tile.alt || tile.date) && h('p.alt.dim', tile.alt ? `“${tile.alt}”` : '', tile.date ? h('span', ` entry of ${moment(tile.date)}`) : null),
    tile.notices?.map(notice => h('p.notice', notice)),
    !state.isReadOnly && h('div.buttons',
      action('Tap', ['tap', number], { hotkey: 't', name: `#${number}` }),
      tile.controls?.map(control => action(`${{ toggle: 'Toggle', link: 'Link', button: 'Button' }[control.type] ?? 'Tap'}: ${control.label || control.number}`,
        control.type === 'link' ? ['tap', number, '--link', control.label] : ['tap', number, '--button', String(control.number)])),
      !tile.isControl && action('Reload', ['reload', tile.kind], { hotkey: 'r', name: tile.kind }),
      action('Push', ['push', ...this.#push(tile)], { hotkey: 'p', name: tile.bundle }),
      top && action('Turn to it', ['turn', number]),
      action('Remove', ['remove', number], { hotkey: 'x', confirm: 'Remove it?', kind: 'danger', name: `#${number}` })),
    !state.isReadOnly && !tile.isControl && h('details', h('summary', 'Configure'),
      actionForm(`edit-${number}`, 'Edit', [{ name: 'choice', label: 'name=value', placeholder: 'name=value', required: true }],
        ({ choice }) => choice.includes('=') ? ['edit', number, '--set', choice] : null, { name: `Configure #${number}` })))
  }

  #mark(placement) {
    if (this.chosen === placement) return
    this.chosen = placement
    requestAnimationFrame(() => this.app.render())
  }

  /** The app of an extension has the beginning of its bundle identifier. */
  #push(tile) {
    const apps = state.addresses.map(address => address.match(/(?:^|\/)app\/(.+)$/)?.[1]).filter(Boolean)
    const app = apps.find(each => tile.bundle === each || tile.bundle.startsWith(`${each}.`))
    return [...app ? [app] : [], ...tile.isControl ? ['--type', 'controls', '--control', String(tile.placement)] : []]
  }

  #add() {
    const { widgets, error } = this.gallery
    const groups = widgets.filter(widget => widget.locations.length).map(widget => [
      `${widget.displayName} (${widget.kind})`,
      widget.locations.flatMap(place => place.families.map(family => [JSON.stringify([widget.kind, place.name, family, widget.bundle]), `${words(place.name)}, ${familyName(family)}`])),
    ])
    groups.forEach(([, items]) => items.sort((a, b) => JSON.parse(b[0])[1].localeCompare(this.report.location) === 0 ? 1 : JSON.parse(a[0])[1] === this.report.location ? -1 : 0))
    const stacks = this.report.tiles.filter(tile => !tile.isControl).map(tile => [String(tile.placement), `on #${tile.placement} ${tile.kind}`])
    const problems = widgets.filter(widget => widget.problem)
    return section('gallery', 'Add a widget', null,
      error ? h('p.dim', `The gallery is not available: ${error.what}. ${error.advice ?? ''}`)
        : groups.length ? actionForm('add', 'Add', [{ name: 'widget', label: 'Widget', groups }, { name: 'stack', label: 'Stack', options: [['', 'a place of its own'], ...stacks] }],
          ({ widget, stack }) => {
            if (!widget) return null
            const [kind, location, family, bundle] = JSON.parse(widget)
            const isShared = widgets.filter(other => other.kind === kind).length > 1
            return ['add', kind, '--family', family, '--location', location, ...stack ? ['--stack', stack] : [], ...isShared ? ['--bundle', bundle] : []]
          }, { kind: 'primary', name: 'Add a widget' })
          : h('p.dim', 'The gallery is empty: an extension announces its widgets when it is launched.'),
      problems.length ? h('ul.problems', problems.map(widget => h('li', h('strong', widget.kind), ` ${widget.problem}`))) : null)
  }
}
