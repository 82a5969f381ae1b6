// SPDX-License-Identifier: Apache-2.0

/// A view as the extension archived it, which the host stores, draws and prints without the author's code.
///
/// A node has SwiftUI's own name (`Text`, `VStack`), its arguments by label, its child views, and its modifiers in the
/// order in which they were applied. Nodes are nested as the author's containers are; a chain of modifiers is a flat
/// list.
package struct ViewArchive: Codable, Hashable, Sendable {
  /// One modifier, such as `font` or `padding`.
  package struct Modifier: Codable, Hashable, Sendable {
    package var name: ModifierName
    package var arguments: [String: ArchivedValue]
    /// The views of the modifier, such as an overlay's.
    package var views: [ViewArchive]

    package init(_ name: ModifierName, _ arguments: [String: ArchivedValue] = [:], views: [ViewArchive] = []) {
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
      arguments = try container.decodeIfPresent([String: ArchivedValue].self, forKey: .arguments) ?? [:]
      views = try container.decodeIfPresent([ViewArchive].self, forKey: .views) ?? []
    }

    package func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(name.rawValue, forKey: .name)
      if !arguments.isEmpty { try container.encode(arguments, forKey: .arguments) }
      if !views.isEmpty { try container.encode(views, forKey: .views) }
    }
  }

  package var name: ViewName
  package var arguments: [String: ArchivedValue]
  package var children: [ViewArchive]
  package var modifiers: [Modifier]

  package init(
    _ name: ViewName, _ arguments: [String: ArchivedValue] = [:], children: [ViewArchive] = [],
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
  package static func text(_ text: String) -> ViewArchive { ViewArchive(.leaf(.text), ["text": .string(text)]) }

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
    if let text = arguments["text"]?.string { return [text] + children.flatMap(\.lines) }
    switch name {
    case .leaf(.text):
      return [children.isEmpty ? LiveText(arguments)?.description ?? "" : children.flatMap(\.lines).joined()]
    case .container(.viewThatFits): return children.first?.lines ?? []
    case .control(.toggle): return children.first { $0.arguments["isOn"] == arguments["isOn"] }?.lines ?? []
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
    arguments = try container.decodeIfPresent([String: ArchivedValue].self, forKey: .arguments) ?? [:]
    children = try container.decodeIfPresent([ViewArchive].self, forKey: .children) ?? []
    modifiers = try container.decodeIfPresent([Modifier].self, forKey: .modifiers) ?? []
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(name.rawValue, forKey: .name)
    if !arguments.isEmpty { try container.encode(arguments, forKey: .arguments) }
    if !children.isEmpty { try container.encode(children, forKey: .children) }
    if !modifiers.isEmpty { try container.encode(modifiers, forKey: .modifiers) }
  }
}
