// SPDX-License-Identifier: Apache-2.0

/// The name of a view in an archive, in a group by what the view does. As with `ModifierName`, the compiler finds the
/// places that lack a new name.
package enum ViewName: Hashable, Sendable {
  case leaf(LeafView)
  case shape(ShapeView)
  case fill(FillView)
  case container(ContainerView)
  case control(ControlView)
  case chart(ChartView)
  case mark(MarkView)
  /// Of an extension with a newer SDK. It is kept, and shows nothing.
  case unknown(String)

  /// SwiftUI's name, which is also that on the wire.
  package var rawValue: String {
    switch self {
    case .leaf(let name): name.rawValue
    case .shape(let name): name.rawValue
    case .fill(let name): name.rawValue
    case .container(let name): name.rawValue
    case .control(let name): name.rawValue
    case .chart(let name): name.rawValue
    case .mark(let name): name.rawValue
    case .unknown(let name): name
    }
  }

  package init(rawValue: String) { self = Self.knownNames[rawValue] ?? .unknown(rawValue) }

  /// Made at the first name that is decoded: an extension only encodes.
  static let knownNames: [String: ViewName] = {
    var names: [String: ViewName] = [:]
    names.addNames(Self.leaf)
    names.addNames(Self.shape)
    names.addNames(Self.fill)
    names.addNames(Self.container)
    names.addNames(Self.control)
    names.addNames(Self.chart)
    names.addNames(Self.mark)
    return names
  }()

  /// Whether the view itself has nothing to draw, even without children.
  package var isBlank: Bool {
    switch self {
    case .leaf(.emptyView), .leaf(.spacer), .container(.group): true
    case .leaf(.text), .leaf(.image), .leaf(.divider), .leaf(.unsupportedView), .shape, .fill, .container, .control,
      .chart, .mark, .unknown:
      false
    }
  }
}

/// A view without views within; a text may have parts.
package enum LeafView: String, CaseIterable, Hashable, Sendable {
  case emptyView = "EmptyView"
  case text = "Text"
  case image = "Image"
  case spacer = "Spacer"
  case divider = "Divider"
  /// A view that widgets cannot show.
  case unsupportedView = "UnsupportedView"
}

/// An outline, which takes the size that is proposed to it.
package enum ShapeView: String, CaseIterable, Hashable, Sendable {
  case rectangle = "Rectangle"
  case roundedRectangle = "RoundedRectangle"
  case unevenRoundedRectangle = "UnevenRoundedRectangle"
  case circle = "Circle"
  case ellipse = "Ellipse"
  case capsule = "Capsule"
  case containerRelativeShape = "ContainerRelativeShape"
  /// A shape of the author: its path.
  case path = "Shape"
}

/// A colour or a gradient, which takes the size that is proposed to it.
package enum FillView: String, CaseIterable, Hashable, Sendable {
  case color = "Color"
  case linearGradient = "LinearGradient"
  case radialGradient = "RadialGradient"
  case ellipticalGradient = "EllipticalGradient"
  case angularGradient = "AngularGradient"
  case accessoryWidgetBackground = "AccessoryWidgetBackground"
}

/// Gives the views within their places.
package enum ContainerView: String, CaseIterable, Hashable, Sendable {
  case group = "Group"
  case section = "Section"
  case hStack = "HStack"
  case vStack = "VStack"
  case zStack = "ZStack"
  case lazyHStack = "LazyHStack"
  case lazyVStack = "LazyVStack"
  case grid = "Grid"
  case gridRow = "GridRow"
  case lazyHGrid = "LazyHGrid"
  case lazyVGrid = "LazyVGrid"
  case geometryReader = "GeometryReader"
  case canvas = "Canvas"
  /// Ours: a text or an image at a place in a canvas.
  case canvasItem = "CanvasItem"
  case viewThatFits = "ViewThatFits"
  case contentUnavailableView = "ContentUnavailableView"
}

/// Has labels, and a look that a style decides.
package enum ControlView: String, CaseIterable, Hashable, Sendable {
  case label = "Label"
  case labeledContent = "LabeledContent"
  case link = "Link"
  case button = "Button"
  case toggle = "Toggle"
  /// Ours: the views of a toggle that is on, or off.
  case toggleState = "ToggleState"
  case gauge = "Gauge"
  case progressView = "ProgressView"
}

/// A chart, or a part of one besides its marks.
package enum ChartView: String, CaseIterable, Hashable, Sendable {
  case chart = "Chart"
  case chartPlotContent = "ChartPlotContent"
  /// The values of an axis.
  case axisMarks = "AxisMarks"
  /// One value of an axis, with its parts as modifiers.
  case axisMark = "AxisMark"
}

/// A mark of a chart, by the name of its type. Source: `Charts.BarMark` and its siblings.
package enum MarkView: String, CaseIterable, Hashable, Sendable {
  case bar = "BarMark"
  case line = "LineMark"
  case area = "AreaMark"
  case point = "PointMark"
  case rule = "RuleMark"
  case sector = "SectorMark"
}
