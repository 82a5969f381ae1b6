// SPDX-License-Identifier: Apache-2.0

import Archive

/// `Label`, `Button`, `Toggle` and `LabeledContent` in the system's styles. A style of the author is laid out as its
/// views.
extension LayoutBuilder {
  /// The views of a control by the label to which each belongs. The archive names the labels where they are not the
  /// first ones in order, with one view each.
  func labels(of view: ViewArchive, _ names: [String]) -> [String: [ViewArchive]] {
    var found: [String: [ViewArchive]] = [:]
    var given: [String?] = []
    if case .list(let list) = view.arguments["labels"], list.count == view.children.count {
      given = list.map(\.string)
    }
    for (index, child) in view.children.enumerated() {
      let name = given.indices.contains(index) ? given[index] : names[min(index, names.count - 1)]
      found[name ?? names[0], default: []].append(child)
    }
    return found
  }

  /// A view that contains views in a row, and has their size.
  func contained(_ view: ViewArchive, _ children: [ViewArchive], _ style: ViewStyle, depth: Int) -> [LayoutNode] {
    let nodes = nodes(of: children, style, axis: .horizontal, depth: depth)
    return joined(nodes, .stack(.horizontal), style).map { [ContainerNode(view, $0, style)] } ?? []
  }

  /// `Label`: the icon before the title. With a style of the author it has the views of that style.
  func label(_ view: ViewArchive, _ style: ViewStyle, depth: Int) -> [LayoutNode] {
    let name = style.controlStyles[.labelStyle] ?? "automatic"
    guard ["automatic", "iconOnly", "titleOnly", "titleAndIcon"].contains(name) else {
      return nodes(of: view.children, style, axis: nil, depth: depth)
    }
    let labels = labels(of: view, ["icon", "title"])
    let icon = name == "titleOnly" ? [] : labels["icon"] ?? []
    let title = name == "iconOnly" ? [] : labels["title"] ?? []
    let nodes = nodes(of: icon + title, style, axis: .horizontal, depth: depth)
    return [
      StackNode(view.name, along: .horizontal, .firstTextBaseline, distance: nil, nodes, style, context)
    ]
  }

  /// `LabeledContent`: the label at the leading edge, the content at the trailing one.
  func labeled(_ view: ViewArchive, _ style: ViewStyle, depth: Int) -> [LayoutNode] {
    var nodes = nodes(of: view.children, style, axis: .horizontal, depth: depth)
    nodes.insert(SpacerNode(least: nil, along: .horizontal, style, context), at: min(1, nodes.count))
    return [StackNode(view.name, along: .horizontal, .firstTextBaseline, distance: nil, nodes, style, context)]
  }

  // MARK: Buttons

  /// `Button`: its label, in a shape where the style has one.
  func button(_ view: ViewArchive, _ style: ViewStyle, depth: Int) -> [LayoutNode] {
    var look: ButtonLook
    switch style.controlStyles[.buttonStyle] ?? "automatic" {
    case "automatic", "bordered": look = .bordered
    case "borderedProminent": look = .prominent
    case "borderless": look = .borderless
    default: return contained(view, view.children, style, depth: depth)
    }
    if view.arguments["role"] == "destructive" { look.tint = "red" }
    return button(view, view.children, look, style, depth: depth)
  }

  private func button(
    _ view: ViewArchive, _ children: [ViewArchive], _ look: ButtonLook, _ style: ViewStyle, depth: Int
  ) -> [LayoutNode] {
    let metrics = ButtonMetrics(style.controlStyles[.controlSize] ?? "regular")
    var inner = style
    if look.isFilled {
      inner.foreground = ["white"]
    } else if style.foreground.isEmpty || look.tint != nil {
      inner.foreground = [look.tint ?? "tint"]
    }
    if style.font == nil, let font = metrics.font { inner.font = .string(font) }
    let nodes = nodes(of: children, inner, axis: .horizontal, depth: depth)
    guard let label = joined(nodes, .stack(.horizontal), inner) else { return [] }
    guard look.hasShape else { return [ContainerNode(view, label, style)] }
    var content: LayoutNode = PaddingNode(label, metrics.insets, style)
    let border = style.controlStyles[.buttonBorderShape] ?? "automatic"
    if border == "circle" { content = SquareNode(PaddingNode(label, Insets(metrics.insets.top), style), style) }
    let shape = FillingNode(
      metrics.shape(border, isFilled: look.isFilled),
      operations: [ViewArchive.Modifier(.shape(.fill), ["style": look.fill(style)])], style, context)
    return [ContainerNode(view, DecoratedNode(.background, content, [shape], .center, style), style)]
  }

  // MARK: Toggles

  /// `Toggle` in its current state, of the two that are archived.
  func toggle(_ view: ViewArchive, _ style: ViewStyle, depth: Int) -> [LayoutNode] {
    var children = view.children
    if let state = children.first(where: {
      $0.name == .control(.toggleState) && $0.arguments["isOn"] == view.arguments["isOn"]
    }) {
      children = state.children
    }
    let isOn = view.arguments["isOn"] == true
    switch style.controlStyles[.toggleStyle] ?? "automatic" {
    case "automatic", "switch":
      if style.controlStyles[.labelsHidden] != nil { children = [] }
      var nodes = nodes(of: children, style, axis: .horizontal, depth: depth)
      if !nodes.isEmpty { nodes.append(SpacerNode(least: nil, along: .horizontal, style, context)) }
      nodes.append(SwitchNode(isOn: isOn, style, context))
      let row = StackNode(.container(.hStack), along: .horizontal, .center, distance: nil, nodes, style, context)
      return [ContainerNode(view, row, style)]
    case "button": return button(view, children, isOn ? .prominent : .invisible, style, depth: depth)
    default: return contained(view, children, style, depth: depth)
    }
  }
}

/// How a button is drawn.
struct ButtonLook {
  /// Whether the shape has the tint and the label is white.
  var isFilled = false
  var hasShape = true
  /// Whether the shape is drawn.
  var isVisible = true
  /// The tint of a role.
  var tint: ArchivedValue?

  static let bordered = ButtonLook()
  static let prominent = ButtonLook(isFilled: true)
  static let borderless = ButtonLook(hasShape: false)
  /// A shape without a colour.
  static let invisible = ButtonLook(isVisible: false)

  /// The colour of the shape: that of the tint, a trace of it, or the system's fill where the author set no tint.
  func fill(_ style: ViewStyle) -> ArchivedValue {
    guard isVisible else { return "clear" }
    if isFilled { return tint ?? "tint" }
    guard let own = tint ?? style.tint else { return .record(["color": "fill", "opacity": 0.6]) }
    return .record(["color": own, "opacity": 0.15])
  }
}

/// The sizes of a bordered button. Source of the margins: `UIButton.Configuration`, as developers measured it.
struct ButtonMetrics {
  /// Around the label, in points.
  let insets: Insets
  /// A text style in place of the inherited font; `nil`: none.
  let font: String?
  private let radius: Double

  /// - Parameter size: the name of a `ControlSize`.
  init(_ size: String) {
    switch size {
    case "mini": (insets, font, radius) = (Insets(top: 4, leading: 8, bottom: 4, trailing: 8), "footnote", 6)
    case "small": (insets, font, radius) = (Insets(top: 5, leading: 10, bottom: 5, trailing: 10), "subheadline", 7)
    case "large", "extraLarge":
      (insets, font, radius) = (Insets(top: 15, leading: 20, bottom: 15, trailing: 20), nil, 12)
    default: (insets, font, radius) = (Insets(top: 7, leading: 12, bottom: 7, trailing: 12), nil, 8)
    }
  }

  /// The shape behind the label.
  ///
  /// - Parameter border: the name of a `ButtonBorderShape`, with the radius after a space.
  func shape(_ border: String, isFilled: Bool) -> ViewArchive {
    var arguments: [String: ArchivedValue] = isFilled ? ["isFilledControl": true] : [:]
    let words = border.split(separator: " ").map(String.init)
    switch words.first {
    case "capsule": return ViewArchive(.shape(.capsule), arguments)
    case "circle": return ViewArchive(.shape(.circle), arguments)
    default:
      arguments["cornerRadius"] = .number(words.count > 1 ? Double(words[1]) ?? radius : radius)
      return ViewArchive(.shape(.roundedRectangle), arguments)
    }
  }
}
