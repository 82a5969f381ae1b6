// SPDX-License-Identifier: Apache-2.0

import Archive
import Layout

extension Paints {
  /// `EllipticalGradient`: a circle in the unit square, stretched to the rectangle.
  func elliptical(_ stops: [Paint.Stop], _ parts: [String: ArchivedValue], in rect: Rect) -> Paint {
    func radius(_ label: String, _ usual: Double) -> Double {
      parts[label]?.number.flatMap { $0.isFinite ? min(max($0, 0), 1_000_000) : nil } ?? usual
    }
    let centre = point(parts["center"], in: rect) ?? Point(x: rect.midX, y: rect.midY)
    guard rect.size.width > 0, rect.size.height > 0, let last = stops.last else {
      return .color(stops.last?.color ?? RGBA(0, 0, 0, opacity: 0))
    }
    let (from, to) = (radius("from", 0), radius("to", 0.5))
    return to > 0 ? .elliptical(stops, centre: centre, unit: rect.size, from: from, to: to) : .color(last.color)
  }

  /// `AngularGradient`. Source of what is beyond the two angles: its documentation.
  func angular(_ stops: [Paint.Stop], _ parts: [String: ArchivedValue], in rect: Rect) -> Paint {
    func angle(_ label: String) -> Double {
      parts[label]?.number.flatMap { $0.isFinite ? min(max($0, -1_000_000), 1_000_000) : nil } ?? 0
    }
    let centre = point(parts["center"], in: rect) ?? Point(x: rect.midX, y: rect.midY)
    var (start, span) = (angle("from"), angle("to") - angle("from"))
    var sorted = Self.ascending(stops)
    if span < 0 {
      (start, span) = (start + span, -span)
      sorted = sorted.reversed().map { Paint.Stop(color: $0.color, location: 1 - $0.location) }
    }
    guard let first = sorted.first, let last = sorted.last else { return .color(RGBA(0, 0, 0, opacity: 0)) }
    // An angle of several turns shows its last turn.
    if span > 360 {
      let lost = 1 - 360 / span
      let head = Paint.Stop(color: Self.color(of: sorted, at: lost), location: 0)
      let rest = sorted.filter { $0.location > lost }
        .map { Paint.Stop(color: $0.color, location: ($0.location - lost) / (1 - lost)) }
      let turn = [head] + rest + [Paint.Stop(color: last.color, location: 1)]
      return .angular(turn, centre: centre, start: (start + span).truncatingRemainder(dividingBy: 360))
    }
    // The colours of both ends share what a smaller angle leaves.
    let share = span / 360
    let middle = (share + 1) / 2
    var turn = [Paint.Stop(color: first.color, location: 0)]
    turn += sorted.map { Paint.Stop(color: $0.color, location: $0.location * share) }
    turn.append(Paint.Stop(color: last.color, location: middle))
    if share < 1 { turn.append(Paint.Stop(color: first.color, location: middle)) }
    turn.append(Paint.Stop(color: share < 1 ? first.color : last.color, location: 1))
    return .angular(turn, centre: centre, start: start.truncatingRemainder(dividingBy: 360))
  }

  /// The stops with locations that do not descend, as SVG and SwiftUI read them.
  private static func ascending(_ stops: [Paint.Stop]) -> [Paint.Stop] {
    var last = 0.0
    return stops.map { stop in
      last = max(last, stop.location)
      return Paint.Stop(color: stop.color, location: last)
    }
  }

  /// The colour of ascending stops at a location.
  static func color(of stops: [Paint.Stop], at location: Double) -> RGBA {
    guard let first = stops.first, let last = stops.last else { return RGBA(0, 0, 0, opacity: 0) }
    guard let upper = stops.firstIndex(where: { $0.location > location }) else { return last.color }
    if upper == 0 { return first.color }
    let (one, other) = (stops[upper - 1], stops[upper])
    let part = (location - one.location) / (other.location - one.location)
    func mixed(_ path: KeyPath<RGBA, Double>) -> Double {
      one.color[keyPath: path] + (other.color[keyPath: path] - one.color[keyPath: path]) * part
    }
    return RGBA(mixed(\.red), mixed(\.green), mixed(\.blue), opacity: mixed(\.opacity))
  }

  // MARK: Materials

  /// The colour of a material above the blurred background. Ours: Apple publishes no numbers.
  static func material(_ name: String, _ style: ViewStyle) -> RGBA {
    let opacity = ["ultraThin": 0.4, "thin": 0.5, "regular": 0.6, "thick": 0.7][String(name.dropLast(8))] ?? 0.85
    return style.colorScheme == .dark ? RGBA(0, 0, 0, opacity: opacity) : RGBA(1, 1, 1, opacity: opacity)
  }
}

extension ArchivedValue {
  /// The name, if the value is one of SwiftUI's materials.
  var material: String? { string.flatMap { $0.hasSuffix("Material") ? $0 : nil } }
}
