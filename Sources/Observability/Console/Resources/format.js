// SPDX-License-Identifier: Apache-2.0
// Numbers, times and names as texts.

const grouped = new Intl.NumberFormat('en-US')
const tenths = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 })

/** 12345 as 12,345. */
export const count = number => grouped.format(number)

/** At most one digit after the point. */
export const decimal = number => tenths.format(number)

/** "1 message", "2 messages". */
export const plural = (number, word, many) => `${count(number)} ${number === 1 ? word : many ?? word + 's'}`

/** Bytes as KiB, MiB. */
export function bytes(number) {
  if (number < 1024) return `${number} B`
  if (number < 1048576) return `${tenths.format(number / 1024)} KiB`
  return `${tenths.format(number / 1048576)} MiB`
}

/** Seconds as "12 ms", "1.25 s", "3 min 5 s", "2 h 3 min", "4 d 2 h". */
export function duration(seconds) {
  const sign = seconds < 0 ? '−' : ''
  const value = Math.abs(seconds)
  if (value < 0.0995) return `${sign}${Math.round(value * 1000)} ms`
  if (value < 59.95) return `${sign}${value < 10 ? value.toFixed(2) : value.toFixed(1)} s`
  return sign + span(Math.round(value))
}

function span(whole) {
  if (whole < 60) return `${whole} s`
  const minutes = Math.floor(whole / 60)
  if (minutes < 60) return joined(minutes, 'min', whole % 60, 's')
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return joined(hours, 'h', minutes % 60, 'min')
  return joined(Math.floor(hours / 24), 'd', hours % 24, 'h')
}

const joined = (a, unit, b, smaller) => b ? `${a} ${unit} ${b} ${smaller}` : `${a} ${unit}`

/** Whole seconds: what ticks on the page. */
export const age = seconds => span(Math.max(0, Math.floor(seconds)))

/** "in 3 min" or "3 min ago". */
export const relative = seconds => seconds >= 0 ? `in ${span(Math.ceil(seconds))}` : `${age(-seconds)} ago`

const two = number => String(number).padStart(2, '0')

/** The time of the day, in the browser's time zone: 13:05:07.250. */
export function clock(time) {
  const date = new Date(time * 1000)
  const millis = String(date.getMilliseconds()).padStart(3, '0')
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${millis}`
}

/** Date and time without fractions; without the date if it is today. */
export function moment(time) {
  const date = new Date(time * 1000)
  const text = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
  return date.toDateString() === new Date().toDateString() ? text
    : `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${text}`
}

/** The complete time, in UTC. */
export const iso = time => new Date(time * 1000).toISOString()

/** "homeScreen" as "Home screen". */
export function words(name) {
  const text = name.replace(/([a-z])([A-Z])/g, (_, a, b) => `${a} ${b.toLowerCase()}`)
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** The name of a process for a heading: `extension/com.example.App.Widget` as `extension/…Widget`. */
export function shortName(address) {
  const [role, rest] = address.replace(/^device\/[^/]+\//, '').split('/', 2)
  return rest === undefined || !rest.includes('.') ? address.replace(/^device\/[^/]+\//, '')
    : `${role}/…${rest.split('.').at(-1)}`
}

/** The class that colors a process by its role. */
export function role(address) {
  const name = address.replace(/^device\/[^/]+\//, '').split('/')[0]
  return 'role-' + ({ extension: 'extension', host: 'host', app: 'app', agent: 'agent', 'push-server': 'push',
    provider: 'provider' }[name] ?? 'bus')
}

/** A word of a command line, quoted for a shell when that is necessary. */
export function quoted(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
