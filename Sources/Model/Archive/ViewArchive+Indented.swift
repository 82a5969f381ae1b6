// SPDX-License-Identifier: Apache-2.0

import Foundation

extension ViewArchive {
  /// The archive as indented text: one view per line, followed by its modifiers in order, with its children below it. A
  /// modifier with more than one plain view has them below it.
  package func indented(_ appearance: ScreenAppearance) -> String {
    var lines: [String] = []
    shown(appearance).write(to: &lines, depth: 0)
    return lines.joined(separator: "\n")
  }

  private func write(to lines: inout [String], depth: Int) {
    let indent = String(repeating: "  ", count: depth)
    var line = head
    var blocks: [Modifier] = []
    for modifier in writtenModifiers {
      let plain = modifier.views.count == 1 ? modifier.views[0].plain : nil
      if modifier.views.isEmpty || plain != nil {
        line += " " + modifier.text(plain)
      } else {
        blocks.append(modifier)
      }
    }
    lines.append(indent + line)
    for block in blocks {
      lines.append(indent + "  " + block.text(nil) + ":")
      for view in block.views { view.write(to: &lines, depth: depth + 2) }
    }
    for child in children { child.write(to: &lines, depth: depth + 1) }
  }

  /// The view on one line, if it has no views within.
  private var plain: String? {
    guard children.isEmpty, modifiers.allSatisfy(\.views.isEmpty) else { return nil }
    return ([head] + writtenModifiers.map { $0.text(nil) }).joined(separator: " ")
  }

  /// Without the default places of guides, which no author wrote at the view.
  private var writtenModifiers: [Modifier] {
    modifiers.filter { $0.name != .layout(.alignmentGuide) || $0.arguments["isDefault"] != true }
  }

  private var head: String {
    let title = name.rawValue
    switch name {
    case .leaf(.text), .leaf(.image):
      if let text = arguments["text"]?.string {
        return text.allSatisfy { $0 == "▒" } && !text.isEmpty ? "\(title) \(text)" : "\(title) \(text.quoted)"
      }
      return title + arguments.filter { !["image", "scale", "symbol"].contains($0.key) }.words
    case .leaf(.unsupportedView): return "🚫 \(arguments["view"]?.string ?? "a view"): widgets cannot show it"
    case .control(.button), .control(.toggle):
      var own = arguments
      let intent = own.removeValue(forKey: "intent")
      return title + own.words + (intent.map { " intent " + $0.intentWords } ?? "")
    case .leaf(.emptyView), .leaf(.spacer), .leaf(.divider), .shape, .fill, .container, .control(.label),
      .control(.labeledContent), .control(.link), .control(.toggleState), .control(.gauge), .control(.progressView),
      .chart, .mark, .unknown:
      return title + arguments.words
    }
  }
}

extension ViewArchive.Modifier {
  fileprivate func text(_ view: String?) -> String {
    var own = arguments
    if name == .layout(.containerBackground) { own["placement"] = nil }
    let parts = own.parts + (view.map { [$0] } ?? [])
    return "." + name.rawValue + (parts.isEmpty ? "" : "(\(parts.joined(separator: ", ")))")
  }
}

extension [String: ArchivedValue] {
  /// The labels in the order in which Swift writes the arguments; others follow alphabetically.
  private static var order: [String] {
    [
      "systemName", "name", "alignment", "spacing", "edges", "value", "total", "in", "style", "lineWidth", "width",
      "height", "minWidth", "idealWidth", "maxWidth", "minHeight", "idealHeight", "maxHeight", "color", "radius", "x",
      "y", "from", "to",
    ]
  }

  /// Labels that are omitted because the value is clear without them.
  private static var silent: Set<String> {
    [
      "style", "font", "weight", "color", "points", "length", "lines", "opacity", "edges", "degrees", "reason", "size",
      "mode", "factor", "amount", "ratio", "contentMode", "scale", "url", "design", "guide", "id", "transition",
      "animation", "flag", "accentable", "scheme", "radius", "insets", "name", "text", "disabled", "label",
    ]
  }

  fileprivate var words: String { parts.isEmpty ? "" : "(\(parts.joined(separator: ", ")))" }

  fileprivate var parts: [String] {
    let labels = keys.filter { $0 != "alignment" || self[$0] != "center" }.sorted { first, second in
      let places = [first, second].map { Self.order.firstIndex(of: $0) ?? Self.order.count }
      return places[0] == places[1] ? first < second : places[0] < places[1]
    }
    return labels.compactMap { label in
      self[label].map { Self.silent.contains(label) ? $0.words : "\(label): \($0.words)" }
    }
  }
}

extension ArchivedValue {
  fileprivate var words: String {
    switch self {
    case .bool(let value): "\(value)"
    case .number(let value): value.words
    case .string(let value): value.count <= 60 ? value : value.prefix(59) + "…"
    case .date(let date): date.formatted(.iso8601)
    case .list(let values):
      "[" + values.prefix(8).map(\.words).joined(separator: ", ") + (values.count > 8 ? ", … \(values.count)" : "")
        + "]"
    case .record(let parts): parts["asset"]?.string ?? colorWords(parts) ?? plottedWords(parts) ?? parts.recordWords
    }
  }

  private func colorWords(_ parts: [String: ArchivedValue]) -> String? {
    if let color = parts["color"], let opacity = parts["opacity"]?.number, parts.count == 2 {
      return "\(color.words) \((opacity * 100).words) %"
    }
    guard let red = parts["red"]?.number, let green = parts["green"]?.number, let blue = parts["blue"]?.number else {
      return nil
    }
    let hex = [red, green, blue].map { String(format: "%02X", Int(saturating: (min(max($0, 0), 1) * 255).rounded())) }
      .joined()
    let opacity = parts["opacity"]?.number ?? 1
    return "#\(hex)" + (opacity == 1 ? "" : " \((opacity * 100).words) %")
  }

  /// A value of a chart with its label, such as `Cups = 3`; the unit of a date as its interval.
  private func plottedWords(_ parts: [String: ArchivedValue]) -> String? {
    guard let label = parts["label"], let value = parts["value"] else { return nil }
    let interval = ["from", "until"].compactMap { parts[$0]?.words }
    return "\(label.words) = \(interval.count == 2 ? interval.joined(separator: " to ") : value.words)"
  }

  /// An intent as its type, without the module, and its parameter values.
  fileprivate var intentWords: String {
    guard case .record(let parts) = self else { return words }
    let type = parts["type"]?.string.map { $0.split(separator: ".").last.map(String.init) ?? $0 } ?? "?"
    guard case .record(let values) = parts["parameters"] else { return type }
    return type + values.words
  }
}

extension [String: ArchivedValue] {
  fileprivate var recordWords: String { parts.joined(separator: " ") }
}

extension Double {
  /// With at most two decimal places.
  fileprivate var words: String {
    guard isFinite else { return "\(self)" }
    let text = String(format: "%.2f", self)
    guard text.contains(".") else { return text }
    return String(text.reversed().drop { $0 == "0" }.drop { $0 == "." }.reversed())
  }
}

extension String {
  fileprivate var quoted: String {
    "\"" + replacingOccurrences(of: "\n", with: "⏎").replacingOccurrences(of: "\"", with: "\\\"") + "\""
  }
}
