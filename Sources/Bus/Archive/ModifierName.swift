// SPDX-License-Identifier: Apache-2.0

/// The name of a modifier in an archive, in a group by what the modifier does. Layout and drawing switch over the names of
/// their groups without `default`, so that the compiler finds the place that lacks a new name.
package enum ModifierName: Hashable, Sendable {
  case style(StyleModifier)
  case shape(ShapeModifier)
  case layout(LayoutModifier)
  case layer(LayerModifier)
  case effect(EffectModifier)
  case color(ColorModifier)
  case chart(ChartModifier)
  case accessibility(AccessibilityModifier)
  case silent(SilentModifier)
  case undrawn(UndrawnModifier)
  /// Of an extension with a newer SDK. It is kept and noted. Made by `init(rawValue:)` only.
  case unknown(String)

  /// SwiftUI's name, which is also that on the wire.
  package var rawValue: String {
    switch self {
    case .style(let name): name.rawValue
    case .shape(let name): name.rawValue
    case .layout(let name): name.rawValue
    case .layer(let name): name.rawValue
    case .effect(let name): name.rawValue
    case .color(let name): name.rawValue
    case .chart(let name): name.rawValue
    case .accessibility(let name): name.rawValue
    case .silent(let name): name.rawValue
    case .undrawn(let name): name.rawValue
    case .unknown(let name): name
    }
  }

  package init(rawValue: String) { self = Self.knownNames[rawValue] ?? .unknown(rawValue) }

  /// Made at the first name that is decoded: an extension only encodes.
  static let knownNames: [String: ModifierName] = {
    var names: [String: ModifierName] = [:]
    names.addNames(Self.style)
    names.addNames(Self.shape)
    names.addNames(Self.layout)
    names.addNames(Self.layer)
    names.addNames(Self.effect)
    names.addNames(Self.color)
    names.addNames(Self.chart)
    names.addNames(Self.accessibility)
    names.addNames(Self.silent)
    names.addNames(Self.undrawn)
    return names
  }()

  /// Whether the views of the modifier are behind the view.
  var isBehind: Bool {
    switch self {
    case .layer(.background), .layout(.containerBackground): true
    case .unknown(let name): name.hasSuffix("ackground")
    case .layer(.overlay), .layer(.mask), .layer(.clipShape), .layer(.containerShape), .style, .shape, .layout, .effect,
      .color, .chart, .accessibility, .silent, .undrawn:
      false
    }
  }
}

extension Dictionary where Key == String {
  /// Adds the names of a group by their raw values.
  mutating func addNames<Name: CaseIterable & RawRepresentable>(_ group: (Name) -> Value)
  where Name.RawValue == String {
    for name in Name.allCases { self[name.rawValue] = group(name) }
  }
}

/// Sets what the views within inherit.
package enum StyleModifier: String, CaseIterable, Hashable, Sendable {
  case foregroundColor, foregroundStyle, tint, accentColor, backgroundStyle, colorScheme
  case dynamicTypeSize, imageScale, symbolRenderingMode, symbolVariant
  case labelStyle, buttonStyle, toggleStyle, gaugeStyle, progressViewStyle, controlSize, buttonBorderShape, labelsHidden
  case font, fontWeight, fontDesign, fontWidth, bold, italic, monospaced, monospacedDigit
  case tracking, kerning, baselineOffset, underline, strikethrough, textCase
  case lineLimit, lineSpacing, multilineTextAlignment, truncationMode, minimumScaleFactor

  /// Whether it gives colours, which an accented place replaces.
  var isColor: Bool {
    switch self {
    case .foregroundColor, .foregroundStyle, .tint, .accentColor: true
    case .backgroundStyle, .colorScheme, .dynamicTypeSize, .imageScale, .symbolRenderingMode, .symbolVariant,
      .labelStyle, .buttonStyle, .toggleStyle, .gaugeStyle, .progressViewStyle, .controlSize, .buttonBorderShape,
      .labelsHidden, .font, .fontWeight, .fontDesign, .fontWidth, .bold, .italic, .monospaced, .monospacedDigit,
      .tracking, .kerning, .baselineOffset, .underline, .strikethrough, .textCase, .lineLimit, .lineSpacing,
      .multilineTextAlignment, .truncationMode, .minimumScaleFactor:
      false
    }
  }
}

/// Changes a shape, an image or a chart: it belongs to the view and not around it.
package enum ShapeModifier: String, CaseIterable, Hashable, Sendable {
  case fill, stroke, strokeBorder, trim, rotation, scale, size
  case resizable, renderingMode, interpolation, antialiased
  case chartPlotStyle
}

/// Changes the size of the view or its place.
package enum LayoutModifier: String, CaseIterable, Hashable, Sendable {
  case padding, safeAreaPadding, contentMargins, frame, fixedSize, aspectRatio, scaledToFit, scaledToFill
  case layoutPriority, zIndex, offset, position, alignmentGuide
  case gridCellColumns, gridCellAnchor, gridCellUnsizedAxes, gridColumnAlignment
  /// The background of the whole widget has the size of the widget.
  case containerBackground
}

/// Has views that get the size of the view.
package enum LayerModifier: String, CaseIterable, Hashable, Sendable {
  case background, overlay, mask, clipShape, containerShape
}

/// Changes how the view is drawn, and not its size.
package enum EffectModifier: String, CaseIterable, Hashable, Sendable {
  case opacity, hidden, blur, compositingGroup, drawingGroup, shadow, border, clipped, cornerRadius
  case rotationEffect, rotation3DEffect, scaleEffect
  case widgetAccentable, widgetAccentedRenderingMode
  /// Ours: the group that colours the view in an accented place.
  case drawn
}

/// Changes the colours of what is drawn, or how they are mixed with those below.
package enum ColorModifier: String, CaseIterable, Hashable, Sendable {
  case brightness, contrast, saturation, grayscale, hueRotation, colorInvert, colorMultiply, luminanceToAlpha, blendMode
}

/// Belongs to a mark of a chart, or to a value of an axis. A mark has some names of other groups too.
package enum ChartModifier: String, CaseIterable, Hashable, Sendable {
  case gridLine, tick, valueLabel
  case annotation, symbol, symbolSize, lineStyle, interpolationMethod
}

/// What assistive technology reads. No picture shows it.
package enum AccessibilityModifier: String, CaseIterable, Hashable, Sendable {
  case label = "accessibilityLabel"
  case value = "accessibilityValue"
  case hint = "accessibilityHint"
  case identifier = "accessibilityIdentifier"
  case hidden = "accessibilityHidden"
  case element = "accessibilityElement"
  case addTraits = "accessibilityAddTraits"
  case removeTraits = "accessibilityRemoveTraits"
  case sortPriority = "accessibilitySortPriority"

  /// Whether its text would reveal hidden content.
  var isReadOut: Bool {
    switch self {
    case .label, .value, .hint: true
    case .identifier, .hidden, .element, .addTraits, .removeTraits, .sortPriority: false
    }
  }
}

/// No picture shows it, except by what it hides.
package enum SilentModifier: String, CaseIterable, Hashable, Sendable {
  case id, animation, transition, contentTransition, symbolEffect, matchedGeometryEffect
  case disabled, allowsHitTesting, contentShape, widgetURL
  case redacted, unredacted, privacySensitive, invalidatableContent
  case ignoresSafeArea, allowsTightening, preferredColorScheme
  case controlWidgetActionHint, controlWidgetStatus
}

/// A phone may show it, and the layout only notes it. Pictures of Live Activities read those of activities before.
package enum UndrawnModifier: String, CaseIterable, Hashable, Sendable {
  case safeAreaInset, textScale, environment
  case widgetLabel, widgetCurvesContent
  case activityBackgroundTint, activitySystemActionForegroundColor, dynamicIsland
}
