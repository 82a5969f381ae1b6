// SPDX-License-Identifier: Apache-2.0

/// The label of an argument of a view or a modifier in an archive, or of a part of such an argument. The SDK writes it
/// and layout, drawing and texts read it, so that a label which only one side knows does not compile.
///
/// The raw value is the label on the wire, and is never changed. `ArchiveNameTests` lists it again.
package enum ArgumentLabel: String, CaseIterable, Hashable, Sendable {
  // Sizes and places, in points unless a comment says otherwise.
  case width, height, size, length, radius, spacing, horizontalSpacing, verticalSpacing, minLength
  case minWidth, idealWidth, maxWidth, minHeight, idealHeight, maxHeight
  case x, y, top, leading, bottom, trailing, topLeading, topTrailing, bottomTrailing, bottomLeading
  case insets, edges, edge
  /// By how much a shape, a mark or a sector is made smaller.
  case inset
  case horizontal, vertical, axes, alignment, anchor
  /// Of the point of a canvas item that is at its place, from 0 to 1.
  case anchorX, anchorY
  /// Width by height.
  case ratio
  case contentMode, placement, verticalPlacement
  case count, columns, rows
  /// The three kinds of a `GridItem`.
  case fixed, flexible, adaptive
  /// Of a guide, a rotation in space or the marks of a chart.
  case axis
  case guide
  /// The guide has the default place, which no author wrote.
  case isDefault

  // Closures that depend on a size.
  case closure
  /// The size with which a closure was called; the range of a gauge.
  case `in`

  // Texts.
  case text, lines, reservesSpace, points, factor, flag, pattern, isActive
  /// Of a text: `uppercase` or `lowercase`.
  case `case`
  case date, interval, timerInterval, pauseTime, countsDown, showsHours
  /// Of the current date: `offset`, `reference` or `dateTime`.
  case format
  case fields, sign, thresholdField
  /// Ours: the text of a timer, which is as wide as the space that it is offered.
  case isTimer
  case font, weight, design, custom, fixedSize, relativeTo
  case bold, italic, monospaced, monospacedDigit, smallCaps, lowercaseSmallCaps, uppercaseSmallCaps
  /// Of dynamic type sizes, as Swift describes it.
  case range

  // Images and symbols.
  case name, systemName, variableValue, variant, symbol, interpolation, isAntialiased, capInsets, resizingMode
  /// The digest of the bytes.
  case image
  case pixelWidth, pixelHeight
  /// Pixels per point of an image; how an effect, a text or a symbol is enlarged.
  case scale
  /// Why an image or a colour cannot be shown.
  case problem
  /// The rendering intent of an image; what a control performs.
  case intent

  // Shapes and lines.
  case type, path, cornerRadius, cornerRadii, eoFill, stroke
  case lineWidth, lineCap, lineJoin, dash, dashPhase
  /// Ours: the shape behind a control that is filled.
  case isFilledControl

  // Colours, gradients and effects.
  case style, color, opacity, secondary, tertiary, amount, degrees, mode, shape
  case red, green, blue
  /// Of a colour, unless it is `sRGB`.
  case space
  case mix
  /// The fraction of a mix; the value by which a mark has its style or position.
  case by
  /// A level of a hierarchical style.
  case rank
  case asset, light, dark, lightContrast, darkContrast
  case gradient, linearGradient, radialGradient, ellipticalGradient, angularGradient, location, center
  case from, to
  case blendMode, shadow, kind, tiledImage
  case scheme, accentable, curvesContent

  // Controls, and what no picture shows.
  case value, total, labels, role, isOn
  case parameters, opensApp, runsInApp, needsUnlock
  case destination, url, id, view, disabled, enabled, reason, sensitive, invalidatable
  case animation, seconds, transition
  case label, hint, identifier, hidden, children, traits, priority

  // Charts.
  case xStart, xEnd, yStart, yEnd, angle, series
  case xScale, yScale, xAxis, yAxis, domain, includesZero, reversed
  case styles, category, legend, values, position, centered
  /// The end of the calendar unit of a date, which `from` begins.
  case until
  case stacking, method, tension, alpha, area, innerRadius, outerRadius, angularInset
}

extension ArgumentLabel {
  /// In a text, in the order in which Swift writes the arguments. Others follow alphabetically.
  static let inOrder: [ArgumentLabel] = [
    .systemName, .name, .alignment, .spacing, .edges, .value, .total, .in, .style, .lineWidth, .width, .height,
    .minWidth, .idealWidth, .maxWidth, .minHeight, .idealHeight, .maxHeight, .color, .radius, .x, .y, .from, .to,
  ]

  /// Omitted in a text, because the value is clear without them.
  static let silent: [ArgumentLabel] = [
    .style, .font, .weight, .color, .points, .length, .lines, .opacity, .edges, .degrees, .reason, .size, .mode,
    .factor, .amount, .ratio, .contentMode, .scale, .url, .design, .guide, .id, .transition, .animation, .flag,
    .accentable, .scheme, .radius, .insets, .name, .text, .disabled, .label,
  ]
}
