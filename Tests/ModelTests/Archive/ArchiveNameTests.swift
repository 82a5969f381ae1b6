// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Archive

@Suite struct `Names in an archive` {
  private func texts<Name: CaseIterable & RawRepresentable>(_ group: Name.Type) -> [String]
  where Name.RawValue == String {
    group.allCases.map(\.rawValue)
  }

  @Test func `every name of a modifier is read as the case that writes it, and is in one group only`() {
    let groups = [
      texts(StyleModifier.self), texts(ShapeModifier.self), texts(LayoutModifier.self), texts(LayerModifier.self),
      texts(EffectModifier.self), texts(ColorModifier.self), texts(ChartModifier.self),
      texts(AccessibilityModifier.self), texts(SilentModifier.self), texts(UndrawnModifier.self),
    ]
    let all = groups.flatMap(\.self)
    #expect(all.count > 130 && Set(all).count == all.count)
    #expect(Set(ModifierName.knownNames.keys) == Set(all))
    for (text, name) in ModifierName.knownNames {
      #expect(name.rawValue == text && ModifierName(rawValue: text) == name)
    }
  }

  @Test func `every name of a view is read as the case that writes it, and is in one group only`() {
    let groups = [
      texts(LeafView.self), texts(ShapeView.self), texts(FillView.self), texts(ContainerView.self),
      texts(ControlView.self), texts(ChartView.self), texts(MarkView.self),
    ]
    let all = groups.flatMap(\.self)
    #expect(all.count > 50 && Set(all).count == all.count)
    #expect(Set(ViewName.knownNames.keys) == Set(all))
    for (text, name) in ViewName.knownNames { #expect(name.rawValue == text && ViewName(rawValue: text) == name) }
  }

  /// Stored archives, and extensions with another SDK, have these names: none is renamed or removed. A release adds those
  /// that are new; until then a new name needs no line here.
  private static let modifiers = """
    accentColor accessibilityAddTraits accessibilityElement accessibilityHidden accessibilityHint
    accessibilityIdentifier accessibilityLabel accessibilityRemoveTraits accessibilitySortPriority
    accessibilityValue activityBackgroundTint activitySystemActionForegroundColor alignmentGuide allowsHitTesting
    allowsTightening animation annotation antialiased aspectRatio background backgroundStyle baselineOffset
    blendMode blur bold border brightness buttonBorderShape buttonStyle chartPlotStyle clipShape clipped colorInvert
    colorMultiply colorScheme compositingGroup containerBackground containerShape contentMargins contentShape
    contentTransition contrast controlSize controlWidgetActionHint controlWidgetStatus cornerRadius disabled
    drawingGroup drawn dynamicIsland dynamicTypeSize environment fill fixedSize font fontDesign fontWeight fontWidth
    foregroundColor foregroundStyle frame gaugeStyle grayscale gridCellAnchor gridCellColumns gridCellUnsizedAxes
    gridColumnAlignment gridLine hidden hueRotation id ignoresSafeArea imageScale interpolation interpolationMethod
    invalidatableContent italic kerning labelStyle labelsHidden layoutPriority lineLimit lineSpacing lineStyle
    luminanceToAlpha mask matchedGeometryEffect minimumScaleFactor monospaced monospacedDigit multilineTextAlignment
    offset opacity overlay padding position preferredColorScheme privacySensitive progressViewStyle redacted
    renderingMode resizable rotation rotation3DEffect rotationEffect safeAreaInset safeAreaPadding saturation scale
    scaleEffect scaledToFill scaledToFit shadow size strikethrough stroke strokeBorder symbol symbolEffect
    symbolRenderingMode symbolSize symbolVariant textCase textScale tick tint toggleStyle tracking transition trim
    truncationMode underline unredacted valueLabel widgetAccentable widgetAccentedRenderingMode widgetCurvesContent
    widgetLabel widgetURL zIndex
    """
  private static let views = """
    AccessoryWidgetBackground AngularGradient AreaMark AxisMark AxisMarks BarMark Button Canvas CanvasItem Capsule
    Chart ChartPlotContent Circle Color ContainerRelativeShape ContentUnavailableView Divider Ellipse
    EllipticalGradient EmptyView Gauge GeometryReader Grid GridRow Group HStack Image Label LabeledContent LazyHGrid
    LazyHStack LazyVGrid LazyVStack LineMark LinearGradient Link PointMark ProgressView RadialGradient Rectangle
    RoundedRectangle RuleMark Section SectorMark Shape Spacer Text Toggle ToggleState UnevenRoundedRectangle
    UnsupportedView VStack ViewThatFits ZStack
    """
  private static let labels = """
    accentable adaptive alignment alpha amount anchor anchorX anchorY angle angularGradient angularInset animation
    area asset axes axis blendMode blue bold bottom bottomLeading bottomTrailing by capInsets case category center
    centered children closure color columns contentMode cornerRadii cornerRadius count countsDown curvesContent
    custom dark darkContrast dash dashPhase date degrees design destination disabled domain edge edges
    ellipticalGradient enabled eoFill factor fixed fixedSize flag flexible font from gradient green guide height
    hidden hint horizontal horizontalSpacing id idealHeight idealWidth identifier image in includesZero innerRadius
    inset insets intent interpolation interval invalidatable isActive isAntialiased isDefault isFilledControl isOn
    isTimer italic kind label labels leading legend length light lightContrast lineCap lineJoin lineWidth
    linearGradient lines location lowercaseSmallCaps maxHeight maxWidth method minHeight minLength minWidth mix mode
    monospaced monospacedDigit name needsUnlock opacity opensApp outerRadius parameters path pattern pauseTime
    pixelHeight pixelWidth placement points position priority problem radialGradient radius range rank ratio reason
    red relativeTo reservesSpace resizingMode reversed role rows runsInApp scale scheme secondary seconds sensitive
    series shadow shape showsHours size smallCaps space spacing stacking stroke style styles symbol systemName
    tension tertiary text tiledImage timerInterval to top topLeading topTrailing total trailing traits transition
    type until uppercaseSmallCaps url value values variableValue variant vertical verticalPlacement verticalSpacing
    view weight width x xAxis xEnd xScale xStart y yAxis yEnd yScale yStart
    """

  @Test func `the names on the wire of all versions are known`() {
    func missing(_ names: String, in known: some Sequence<String>) -> Set<String> {
      Set(names.split { $0 == " " || $0 == "\n" }.map(String.init)).subtracting(known)
    }
    #expect(missing(Self.modifiers, in: ModifierName.knownNames.keys) == [])
    #expect(missing(Self.views, in: ViewName.knownNames.keys) == [])
    #expect(missing(Self.labels, in: ArgumentLabel.allCases.map(\.rawValue)) == [])
  }

  @Test func `arguments are without those that are nil, and keep the labels of a newer SDK`() throws {
    var arguments: ArchivedArguments = [.width: 3, .height: nil, .style: .record([.color: "red"])]
    #expect(arguments.count == 2 && arguments[.height] == nil && arguments.values["width"] == 3)
    arguments.merge([.width: 4, .height: 5])
    #expect(arguments.sorted.map(\.key) == ["height", "style", "width"] && arguments[.width] == 4)
    #expect(arguments.only(.height) == [.height: 5] && arguments.without(.style, .height) == [.width: 4])
    let text = #"{"a":{"sparkle":{"twinkle":1},"text":"a"},"n":"Text"}"#
    let view = try JSONDecoder().decode(ViewArchive.self, from: Data(text.utf8))
    let sparkle = ArchivedValue.record(ArchivedArguments(values: ["twinkle": 1]))
    #expect(view.arguments.values["sparkle"] == sparkle && view.lines == ["a"])
    #expect(try json(view) == text)
  }

  private func json(_ view: ViewArchive) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return String(decoding: try encoder.encode(view), as: UTF8.self)
  }

  @Test func `a name of a newer SDK is kept and printed`() throws {
    let text = #"{"c":[{"m":[{"n":"sparkle","v":[{"a":{"text":"a"},"n":"Text"}]}],"n":"Hologram"}],"n":"VStack"}"#
    let view = try JSONDecoder().decode(ViewArchive.self, from: Data(text.utf8))
    let hologram = try #require(view.children.first)
    #expect(hologram.name == .unknown("Hologram") && hologram.modifiers.map(\.name) == [.unknown("sparkle")])
    #expect(try json(view) == text)
    let now = Date(timeIntervalSince1970: 0)
    #expect(view.indented(ScreenAppearance(now: now)) == "VStack\n  Hologram .sparkle(Text \"a\")")
    #expect(view.shown(ScreenAppearance(now: now, isPlaceholder: true, isAccented: true)).lines == ["▒"])
  }

  @Test func `the JSON of an archive has the names of SwiftUI`() throws {
    let mark = ViewArchive(
      .mark(.bar), modifiers: [.init(.chart(.annotation), views: [.empty]), .init(.style(.foregroundStyle))])
    let view = ViewArchive(
      .container(.lazyVGrid), [.alignment: "top"],
      children: [
        ViewArchive(.leaf(.text), [.text: "a"], modifiers: [.init(.style(.font), [.font: "body"])]),
        ViewArchive(.shape(.path), modifiers: [.init(.shape(.fill))]), ViewArchive(.fill(.linearGradient)),
        ViewArchive(.control(.toggleState)), ViewArchive(.chart(.chart), children: [mark]),
      ],
      modifiers: [
        .init(.layout(.padding)), .init(.layer(.overlay), views: [.text("b")]), .init(.effect(.rotation3DEffect)),
        .init(.color(.hueRotation)), .init(.accessibility(.label)), .init(.silent(.widgetURL)),
        .init(.undrawn(.textScale)),
      ])
    let children = [
      #"{"a":{"text":"a"},"m":[{"a":{"font":"body"},"n":"font"}],"n":"Text"}"#, #"{"m":[{"n":"fill"}],"n":"Shape"}"#,
      #"{"n":"LinearGradient"}"#, #"{"n":"ToggleState"}"#,
      #"{"c":[{"m":[{"n":"annotation","v":[{"n":"EmptyView"}]},{"n":"foregroundStyle"}],"n":"BarMark"}],"n":"Chart"}"#,
    ]
    let modifiers = [
      #"{"n":"padding"}"#, #"{"n":"overlay","v":[{"a":{"text":"b"},"n":"Text"}]}"#, #"{"n":"rotation3DEffect"}"#,
      #"{"n":"hueRotation"}"#, #"{"n":"accessibilityLabel"}"#, #"{"n":"widgetURL"}"#, #"{"n":"textScale"}"#,
    ]
    let text =
      #"{"a":{"alignment":"top"},"c":["# + children.joined(separator: ",") + #"],"m":["#
      + modifiers.joined(separator: ",") + #"],"n":"LazyVGrid"}"#
    #expect(try json(view) == text)
    #expect(try JSONDecoder().decode(ViewArchive.self, from: Data(text.utf8)) == view)
  }
}
