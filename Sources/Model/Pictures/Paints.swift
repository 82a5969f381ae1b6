// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Layout

/// Turns archived styles into paints. What it does not know is in `unknown`, and is drawn in the system's gray.
struct Paints {
  let hasIncreasedContrast: Bool
  let usesIOS26Colors: Bool
  private(set) var unknown: [String] = []

  init(hasIncreasedContrast: Bool, usesIOS26Colors: Bool) {
    self.hasIncreasedContrast = hasIncreasedContrast
    self.usesIOS26Colors = usesIOS26Colors
  }

  private func colors(_ style: ViewStyle) -> SystemColors {
    SystemColors(
      isDark: style.colorScheme == .dark, hasIncreasedContrast: hasIncreasedContrast, usesIOS26Colors: usesIOS26Colors)
  }

  /// The paint of a text or a shape without a style.
  mutating func foreground(_ style: ViewStyle, in rect: Rect) -> Paint {
    if let material = style.foreground.first?.material { _ = missing("the blur of \(material)", style) }
    return paint(style.foreground.first ?? "primary", style, in: rect, depth: 1)
  }

  /// The paint of a style in a rectangle.
  mutating func paint(_ value: ArchivedValue, _ style: ViewStyle, in rect: Rect) -> Paint {
    paint(value, style, in: rect, depth: 0)
  }

  /// - Parameter depth: of styles within styles; limited, since an archive comes from outside.
  private mutating func paint(_ value: ArchivedValue, _ style: ViewStyle, in rect: Rect, depth: Int) -> Paint {
    guard depth < 16 else { return .color(RGBA(0, 0, 0, opacity: 0)) }
    switch value {
    case .string(let name): return named(name, style: style, in: rect, depth: depth)
    case .list(let stops): return .linear(self.stops(stops, style), from: top(rect), to: bottom(rect))
    case .record(let parts): return record(parts, style: style, in: rect, depth: depth)
    default: return missing("\(value)", style)
    }
  }

  private mutating func missing(_ name: String, _ style: ViewStyle) -> Paint {
    if !unknown.contains(name) { unknown.append(name) }
    return .color(colors(style)["gray"] ?? RGBA(0.5, 0.5, 0.5))
  }

  private func top(_ rect: Rect) -> Point { Point(x: rect.midX, y: rect.minY) }
  private func bottom(_ rect: Rect) -> Point { Point(x: rect.midX, y: rect.maxY) }

  private mutating func named(_ name: String, style: ViewStyle, in rect: Rect, depth: Int) -> Paint {
    // A level of a named style, such as `red secondary`.
    let words = name.split(separator: " ").map(String.init)
    if words.count == 2, let opacity = SystemColors.opacities[words[1]] {
      return paint(.string(words[0]), style, in: rect, depth: depth + 1).faded(opacity)
    }
    if name == "tint" || name == "accentColor", let tint = style.tint {
      return paint(tint, style, in: rect, depth: depth + 1)
    }
    if depth == 0, name == "foreground", let own = style.foreground.first {
      return paint(own, style, in: rect, depth: depth + 1)
    }
    if name == "background", let own = style.background { return paint(own, style, in: rect, depth: depth + 1) }
    if ArchivedValue.string(name).material != nil { return .color(Self.material(name, style)) }
    return colors(style)[name].map { .color($0) } ?? missing(name, style)
  }

  private mutating func record(
    _ parts: ArchivedArguments, style: ViewStyle, in rect: Rect, depth: Int
  ) -> Paint {
    if let red = parts[.red]?.number, let green = parts[.green]?.number, let blue = parts[.blue]?.number {
      let isLinear = parts[.space] == "sRGBLinear"
      func component(_ value: Double) -> Double {
        let value = value.isFinite ? min(max(value, 0), 1) : 0
        if !isLinear { return value }
        return value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055
      }
      let opacity = parts[.opacity]?.number ?? 1
      return .color(
        RGBA(component(red), component(green), component(blue), opacity: opacity.isFinite ? min(max(opacity, 0), 1) : 1)
      )
    }
    if let inner = parts[.color] {
      for label in [ArgumentLabel.blendMode, .shadow] where parts[label] != nil {
        _ = missing("\(label.rawValue) of a style", style)
      }
      return paint(inner, style, in: rect, depth: depth + 1).faded(parts[.opacity]?.number ?? 1)
    }
    if let inner = parts[.style], let rank = parts[.rank]?.string {
      return paint(inner, style, in: rect, depth: depth + 1).faded(SystemColors.opacities[rank] ?? 1)
    }
    if case .list(let colors) = parts[.mix], colors.count == 2 {
      return mixed(colors, by: parts[.by]?.number ?? 0.5, style: style, in: rect, depth: depth)
    }
    if let gradient = parts[.gradient] {
      if case .list = gradient { return paint(gradient, style, in: rect, depth: depth + 1) }
      return gradientOfColor(paint(gradient, style, in: rect, depth: depth + 1), in: rect)
    }
    if case .list(let list) = parts[.linearGradient] {
      return .linear(
        stops(list, style), from: point(parts[.from], in: rect) ?? top(rect),
        to: point(parts[.to], in: rect) ?? bottom(rect))
    }
    if case .list(let list) = parts[.radialGradient] {
      return .radial(
        stops(list, style), centre: point(parts[.center], in: rect) ?? Point(x: rect.midX, y: rect.midY),
        from: parts[.from]?.number ?? 0, to: parts[.to]?.number ?? 0)
    }
    if case .list(let list) = parts[.ellipticalGradient] { return elliptical(stops(list, style), parts, in: rect) }
    if case .list(let list) = parts[.angularGradient] { return angular(stops(list, style), parts, in: rect) }
    if let asset = parts[.asset]?.string {
      if let own = variant(of: parts, style) { return paint(own, style, in: rect, depth: depth + 1) }
      let reason = parts[.problem]?.string.map { " (\($0))" } ?? ""
      return missing("the colour \"\(asset)\" of the asset catalog\(reason)", style)
    }
    return missing(parts.values.keys.sorted().joined(separator: ", "), style)
  }

  private mutating func mixed(
    _ pair: [ArchivedValue], by fraction: Double, style: ViewStyle, in rect: Rect, depth: Int
  ) -> Paint {
    guard case .color(let one) = paint(pair[0], style, in: rect, depth: depth + 1),
      case .color(let other) = paint(pair[1], style, in: rect, depth: depth + 1)
    else { return missing("a mix of gradients", style) }
    func part(_ path: KeyPath<RGBA, Double>) -> Double {
      one[keyPath: path] + (other[keyPath: path] - one[keyPath: path]) * fraction
    }
    return .color(RGBA(part(\.red), part(\.green), part(\.blue), opacity: part(\.opacity)))
  }

  /// The colour of an asset catalog for the scheme and the contrast. The archive has only those that differ.
  private func variant(of parts: ArchivedArguments, _ style: ViewStyle) -> ArchivedValue? {
    let scheme = (style.colorScheme == .dark ? parts[.dark] : nil) ?? parts[.light]
    guard hasIncreasedContrast else { return scheme }
    if style.colorScheme == .dark { return parts[.darkContrast] ?? scheme }
    return parts[.lightContrast] ?? scheme
  }

  /// `Color.gradient`: a little lighter at the top. Ours: Apple publishes no numbers.
  private func gradientOfColor(_ paint: Paint, in rect: Rect) -> Paint {
    guard case .color(let color) = paint else { return paint }
    func lighter(_ part: Double) -> Double { part + (1 - part) * 0.25 }
    let light = RGBA(lighter(color.red), lighter(color.green), lighter(color.blue), opacity: color.opacity)
    return .linear(
      [Paint.Stop(color: light, location: 0), Paint.Stop(color: color, location: 1)], from: top(rect),
      to: bottom(rect))
  }

  /// The stops of a gradient: colours at even distances, or records with a location.
  mutating func stops(_ list: [ArchivedValue], _ style: ViewStyle) -> [Paint.Stop] {
    let rect = Rect(x: 0, y: 0, width: 1, height: 1)
    return list.enumerated().map { index, value in
      var (color, location) = (value, Double(index) / Double(max(list.count - 1, 1)))
      if case .record(let parts) = value, let own = parts[.location]?.number {
        (color, location) = (parts[.color] ?? value, own.isFinite ? min(max(own, 0), 1) : 0)
      }
      guard case .color(let found) = paint(color, style, in: rect, depth: 1) else {
        return Paint.Stop(color: RGBA(0.5, 0.5, 0.5), location: location)
      }
      return Paint.Stop(color: found, location: location)
    }
  }

  /// A unit point in a rectangle, by its name or as `(x, y)`.
  func point(_ value: ArchivedValue?, in rect: Rect) -> Point? { value?.string?.unitPoint(in: rect) }
}

extension String {
  /// The place of a unit point, such as `topLeading` or `(0.3, 0.7)`, in a rectangle. Source: `SwiftUI.UnitPoint`.
  func unitPoint(in rect: Rect) -> Point? {
    var (x, y) = (0.5, 0.5)
    if hasPrefix("(") {
      let numbers = dropFirst().dropLast().split(separator: ",")
        .compactMap { Double($0.trimmingCharacters(in: .whitespaces)) }
      guard numbers.count == 2 else { return nil }
      (x, y) = (numbers[0], numbers[1])
    } else {
      let name = lowercased()
      if name.hasPrefix("top") { y = 0 }
      if name.hasPrefix("bottom") { y = 1 }
      if name.hasSuffix("leading") { x = 0 }
      if name.hasSuffix("trailing") { x = 1 }
    }
    return Point(x: rect.minX + x * rect.size.width, y: rect.minY + y * rect.size.height)
  }
}

extension Paints {
  /// `EllipticalGradient`: a circle in the unit square, stretched to the rectangle.
  func elliptical(_ stops: [Paint.Stop], _ parts: ArchivedArguments, in rect: Rect) -> Paint {
    func radius(_ label: ArgumentLabel, _ usual: Double) -> Double {
      parts[label]?.number.flatMap { $0.isFinite ? min(max($0, 0), 1_000_000) : nil } ?? usual
    }
    let centre = point(parts[.center], in: rect) ?? Point(x: rect.midX, y: rect.midY)
    guard rect.size.width > 0, rect.size.height > 0, let last = stops.last else {
      return .color(stops.last?.color ?? RGBA(0, 0, 0, opacity: 0))
    }
    let (from, to) = (radius(.from, 0), radius(.to, 0.5))
    return to > 0 ? .elliptical(stops, centre: centre, unit: rect.size, from: from, to: to) : .color(last.color)
  }

  /// `AngularGradient`. Source of what is beyond the two angles: its documentation.
  func angular(_ stops: [Paint.Stop], _ parts: ArchivedArguments, in rect: Rect) -> Paint {
    func angle(_ label: ArgumentLabel) -> Double {
      parts[label]?.number.flatMap { $0.isFinite ? min(max($0, -1_000_000), 1_000_000) : nil } ?? 0
    }
    let centre = point(parts[.center], in: rect) ?? Point(x: rect.midX, y: rect.midY)
    var (start, span) = (angle(.from), angle(.to) - angle(.from))
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
