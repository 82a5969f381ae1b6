// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A view as the extension archived it, which the host stores, draws and prints without the author's code.
///
/// A node has SwiftUI's own name (`Text`, `VStack`), its arguments by label, its child views, and its modifiers in the
/// order in which they were applied. Nodes are nested as the author's containers are; a chain of modifiers is a flat
/// list.
package struct ViewArchive: Codable, Hashable, Sendable {
  /// One modifier, such as `font` or `padding`.
  package struct Modifier: Codable, Hashable, Sendable {
    package var name: ModifierName
    package var arguments: ArchivedArguments
    /// The views of the modifier, such as an overlay's.
    package var views: [ViewArchive]

    package init(_ name: ModifierName, _ arguments: ArchivedArguments = [:], views: [ViewArchive] = []) {
      self.name = name
      self.arguments = arguments
      self.views = views
    }

    private enum Key: String, CodingKey {
      case name = "n"
      case arguments = "a"
      case views = "v"
    }

    package init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Key.self)
      name = ModifierName(rawValue: try container.decode(String.self, forKey: .name))
      arguments = ArchivedArguments(
        values: try container.decodeIfPresent([String: ArchivedValue].self, forKey: .arguments) ?? [:])
      views = try container.decodeIfPresent([ViewArchive].self, forKey: .views) ?? []
    }

    package func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(name.rawValue, forKey: .name)
      if !arguments.isEmpty { try container.encode(arguments.values, forKey: .arguments) }
      if !views.isEmpty { try container.encode(views, forKey: .views) }
    }
  }

  package var name: ViewName
  package var arguments: ArchivedArguments
  package var children: [ViewArchive]
  package var modifiers: [Modifier]

  package init(
    _ name: ViewName, _ arguments: ArchivedArguments = [:], children: [ViewArchive] = [],
    modifiers: [Modifier] = []
  ) {
    self.name = name
    self.arguments = arguments
    self.children = children
    self.modifiers = modifiers
  }

  /// A view that shows nothing.
  package static let empty = ViewArchive(.leaf(.emptyView))
  /// Views in order, without a layout.
  package static func group(_ children: [ViewArchive]) -> ViewArchive {
    ViewArchive(.container(.group), children: children)
  }
  /// A text.
  package static func text(_ text: String) -> ViewArchive { ViewArchive(.leaf(.text), [.text: .string(text)]) }

  /// The texts of the view, in reading order; overlays after the view that they cover, backgrounds before it. A live
  /// text is given as its date.
  package var lines: [String] {
    var lines = ownLines
    for modifier in modifiers {
      let own = modifier.views.flatMap(\.lines)
      lines = modifier.name.isBehind ? own + lines : lines + own
    }
    return lines
  }

  private var ownLines: [String] {
    if let text = arguments[.text]?.string { return [text] + children.flatMap(\.lines) }
    switch name {
    case .leaf(.text):
      return [children.isEmpty ? LiveText(arguments)?.description ?? "" : children.flatMap(\.lines).joined()]
    case .container(.viewThatFits): return children.first?.lines ?? []
    case .control(.toggle): return children.first { $0.arguments[.isOn] == arguments[.isOn] }?.lines ?? []
    case .leaf, .shape, .fill, .container, .control, .chart, .mark, .unknown: return children.flatMap(\.lines)
    }
  }

  /// Its buttons and toggles, in reading order.
  package var controls: [ViewArchive] { all { $0.name == .control(.button) || $0.name == .control(.toggle) } }

  /// The views in it that satisfy a condition, itself included, in reading order.
  package func all(_ isMeant: (ViewArchive) -> Bool) -> [ViewArchive] {
    (isMeant(self) ? [self] : []) + (children + modifiers.flatMap(\.views)).flatMap { $0.all(isMeant) }
  }

  private enum Key: String, CodingKey {
    case name = "n"
    case arguments = "a"
    case children = "c"
    case modifiers = "m"
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    name = ViewName(rawValue: try container.decode(String.self, forKey: .name))
    arguments = ArchivedArguments(
      values: try container.decodeIfPresent([String: ArchivedValue].self, forKey: .arguments) ?? [:])
    children = try container.decodeIfPresent([ViewArchive].self, forKey: .children) ?? []
    modifiers = try container.decodeIfPresent([Modifier].self, forKey: .modifiers) ?? []
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(name.rawValue, forKey: .name)
    if !arguments.isEmpty { try container.encode(arguments.values, forKey: .arguments) }
    if !children.isEmpty { try container.encode(children, forKey: .children) }
    if !modifiers.isEmpty { try container.encode(modifiers, forKey: .modifiers) }
  }
}

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
    modifiers.filter { $0.name != .layout(.alignmentGuide) || $0.arguments[.isDefault] != true }
  }

  private var head: String {
    let title = name.rawValue
    switch name {
    case .leaf(.text), .leaf(.image):
      if let text = arguments[.text]?.string {
        return text.allSatisfy { $0 == "▒" } && !text.isEmpty ? "\(title) \(text)" : "\(title) \(text.quoted)"
      }
      return title + arguments.without(.image, .scale, .symbol).words
    case .leaf(.unsupportedView): return "🚫 \(arguments[.view]?.string ?? "a view"): widgets cannot show it"
    case .control(.button), .control(.toggle):
      let intent = arguments[.intent].map { " intent " + $0.intentWords } ?? ""
      return title + arguments.without(.intent).words + intent
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
    if name == .layout(.containerBackground) { own[.placement] = nil }
    let parts = own.parts + (view.map { [$0] } ?? [])
    return "." + name.rawValue + (parts.isEmpty ? "" : "(\(parts.joined(separator: ", ")))")
  }
}

extension ArchivedArguments {
  private static let order = ArgumentLabel.inOrder.map(\.rawValue)
  private static let silent = Set(ArgumentLabel.silent.map(\.rawValue))

  fileprivate var words: String { parts.isEmpty ? "" : "(\(parts.joined(separator: ", ")))" }

  fileprivate var parts: [String] {
    var own = self
    if own[.alignment] == "center" { own[.alignment] = nil }
    let labels = own.values.keys.sorted { first, second in
      let places = [first, second].map { Self.order.firstIndex(of: $0) ?? Self.order.count }
      return places[0] == places[1] ? first < second : places[0] < places[1]
    }
    return labels.compactMap { label in
      values[label].map { Self.silent.contains(label) ? $0.words : "\(label): \($0.words)" }
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
    case .record(let parts): parts[.asset]?.string ?? colorWords(parts) ?? plottedWords(parts) ?? parts.recordWords
    }
  }

  private func colorWords(_ parts: ArchivedArguments) -> String? {
    if let color = parts[.color], let opacity = parts[.opacity]?.number, parts.count == 2 {
      return "\(color.words) \((opacity * 100).words) %"
    }
    guard let red = parts[.red]?.number, let green = parts[.green]?.number, let blue = parts[.blue]?.number else {
      return nil
    }
    let hex = [red, green, blue].map { String(format: "%02X", Int(saturating: (min(max($0, 0), 1) * 255).rounded())) }
      .joined()
    let opacity = parts[.opacity]?.number ?? 1
    return "#\(hex)" + (opacity == 1 ? "" : " \((opacity * 100).words) %")
  }

  /// A value of a chart with its label, such as `Cups = 3`; the unit of a date as its interval.
  private func plottedWords(_ parts: ArchivedArguments) -> String? {
    guard let label = parts[.label], let value = parts[.value] else { return nil }
    let interval = [ArgumentLabel.from, .until].compactMap { parts[$0]?.words }
    return "\(label.words) = \(interval.count == 2 ? interval.joined(separator: " to ") : value.words)"
  }

  /// An intent as its type, without the module, and its parameter values.
  fileprivate var intentWords: String {
    guard case .record(let parts) = self else { return words }
    let type = parts[.type]?.string.map { $0.split(separator: ".").last.map(String.init) ?? $0 } ?? "?"
    guard case .record(let values) = parts[.parameters] else { return type }
    return type + values.words
  }
}

extension ArchivedArguments {
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

extension ViewArchive {
  /// The SHA-256 of the bytes of each image in the view, each once, in reading order. The bytes themselves are beside the
  /// archive, so that a timeline has them once.
  package var imageDigests: [String] {
    var digests: [String] = []
    var knownDigests: Set<String> = []
    walk { view in
      guard view.name == .leaf(.image), let digest = view.arguments[.image]?.string,
        knownDigests.insert(digest).inserted
      else { return }
      digests.append(digest)
    }
    return digests
  }

  /// The images and colours of the bundle that cannot be shown, with the reasons, each once, in reading order.
  package var assetProblems: [String] {
    var problems: [String] = []
    walk { view in
      var problemsFound: [String] = []
      if view.name == .leaf(.image), let problem = view.arguments[.problem]?.string {
        problemsFound.append(
          "\(view.arguments[.name]?.string.map { "the image \"\($0)\"" } ?? "an image"): \(problem)")
      }
      for arguments in [view.arguments] + view.modifiers.map(\.arguments) {
        for value in arguments.sorted.map(\.value) { problemsFound += value.colorProblems }
      }
      for problem in problemsFound where !problems.contains(problem) { problems.append(problem) }
    }
    return problems
  }
}

extension ArchivedValue {
  /// The colours in it that an asset catalog lacks. A style is nested as deep as the author's code nests it.
  fileprivate var colorProblems: [String] {
    switch self {
    case .list(let values): return values.flatMap(\.colorProblems)
    case .record(let parts):
      if let name = parts[.asset]?.string {
        return parts[.problem]?.string.map { ["the colour \"\(name)\": \($0)"] } ?? []
      }
      return parts.sorted.flatMap(\.value.colorProblems)
    case .bool, .number, .string, .date: return []
    }
  }
}

extension ViewArchive {
  /// The archive as an accented place colours it: without the author's colours, and with the group of each view that is
  /// drawn.
  ///
  /// `.drawn(accent)` and `.drawn(default)` name the group whose colour replaces those of the view, through its alpha
  /// channel or, for an image that the author chose, through its luminance. Source: `widgetAccentable(_:)`,
  /// `WidgetAccentedRenderingMode`.
  func accented(isAccentable: Bool = false) -> ViewArchive {
    var isAccentable = isAccentable
    var mode: String?
    var view = self
    view.modifiers = []
    // Outermost first: its group applies to the views within.
    for var modifier in modifiers.reversed() {
      switch modifier.name {
      case .style(let name) where name.isColor: continue
      case .effect(.widgetAccentable):
        if modifier.arguments[.accentable] != .bool(false) { isAccentable = true }
      case .effect(.widgetAccentedRenderingMode): mode = modifier.arguments[.mode]?.string
      case .style, .shape, .layout, .layer, .effect, .color, .chart, .accessibility, .silent, .undrawn, .unknown: break
      }
      modifier.views = modifier.views.map { $0.accented(isAccentable: isAccentable) }
      view.modifiers.insert(modifier, at: 0)
    }
    view.children = children.map { $0.accented(isAccentable: isAccentable) }
    if children.isEmpty, !name.isBlank {
      view.modifiers.append(Modifier(.effect(.drawn), [.style: .string(drawing(mode, isAccentable: isAccentable))]))
    }
    return view
  }

  /// - Parameter mode: of an image, the name of its `WidgetAccentedRenderingMode`.
  private func drawing(_ mode: String?, isAccentable: Bool) -> String {
    let group = isAccentable ? "accent" : "default"
    guard name == .leaf(.image) else { return group }
    return switch mode {
    case "fullColor": "fullColor"
    case "accented": "accent"
    case "accentedDesaturated": "accent by luminance"
    case "desaturated": "default by luminance"
    default: group
    }
  }
}
