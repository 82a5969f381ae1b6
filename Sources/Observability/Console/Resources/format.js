// SPDX-License-Identifier: Apache-2.0
// Numbers, times and names as texts.

const { format } = new Intl.NumberFormat('en-US')
/** 12345 as 12,345. */
export const count = number => format(number)

/** At most one digit after the point. */
export const decimal = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 }).format

/** "1 message", "2 messages". */
export const plural = (number, word, many = word + 's') => `${count(number)} ${number === 1 ? word : many}`

/** Bytes as KiB, MiB. */
export const bytes = number => number < 1024 ? `${number} B` : number < 1048576 ? `${decimal(number / 1024)} KiB` : `${decimal(number / 1048576)} MiB`

/** Seconds as "12 ms", "1.25 s", "3 min 5 s", "2 h 3 min", "4 d 2 h". */
export function duration(seconds) {
  if (seconds < 0) return '−' + duration(-seconds)
  if (seconds < 0.0995) return `${Math.round(seconds * 1000)} ms`
  return seconds < 59.95 ? `${seconds.toFixed(seconds < 10 ? 2 : 1)} s` : age(seconds)
}

const units = [[86400, 'd'], [3600, 'h'], [60, 'min'], [1, 's']]

/** Whole seconds in at most two units: what ticks on the page. */
export function age(seconds) {
  const whole = Math.max(0, Math.floor(seconds + 1e-6))
  const index = Math.max(0, units.findIndex(([size]) => whole >= size))
  return units.slice(whole ? index : 3, index + 2).map(([size, unit], place) => [Math.floor((place ? whole % units[index][0] : whole) / size), unit])
    .filter(([number], place) => number || !place).map(part => part.join(' ')).join(' ')
}

/** "in 3 min" or "3 min ago". */
export const relative = seconds => seconds >= 0 ? `in ${age(Math.ceil(seconds))}` : `${age(-seconds)} ago`

const two = number => String(number).padStart(2, '0')

/** The time of the day, in the browser's time zone: 13:05:07.250. */
export function clock(time) {
  const date = new Date(time * 1000)
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, '0')}`
}

/** Date and time without fractions; without the date if it is today. */
export function moment(time) {
  const date = new Date(time * 1000)
  const text = clock(time).slice(0, 8)
  return date.toDateString() === new Date().toDateString() ? text
    : `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${text}`
}

/** The complete time, in UTC. */
export const iso = time => new Date(time * 1000).toISOString()

/** "homeScreen" as "Home screen". */
export function words(name) {
  const text = name.replace(/([a-z])([A-Z])/g, (_, a, b) => `${a} ${b.toLowerCase()}`)
  return text[0].toUpperCase() + text.slice(1)
}

const colored = ['extension', 'host', 'app', 'agent', 'push-server', 'provider']

/** The class that colors a process by its role. */
export function role(address) {
  const name = address.replace(/^device\/[^/]+\//, '').split('/')[0]
  return `role-${colored.includes(name) ? name : 'bus'}`
}

/** A word of a command line, quoted for a shell when that is necessary. */
export const quoted = word => /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
