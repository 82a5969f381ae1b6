// SPDX-License-Identifier: Apache-2.0

import Archive

/// `Image`. One that is not resizable has its own size.
final class ImageNode: ViewNode {
  private let arguments: [String: ArchivedValue]
  private let isResizable: Bool
  private let operations: [ViewArchive.Modifier]
  private let metrics: LineMetrics

  init(_ view: ViewArchive, operations: [ViewArchive.Modifier], _ style: ViewStyle, _ context: LayoutContext) {
    arguments = view.arguments
    self.operations = operations
    isResizable = operations.contains { $0.name == .shape(.resizable) }
    metrics = context.measure.metrics(of: style.resolvedFont)
    super.init(.leaf(.image), style, context)
    if ownSize == nil {
      context.note(.unknownImageSize, "Image \"\(arguments["name"]?.string ?? "")\"")
    }
  }

  private var isSymbol: Bool { arguments["systemName"] != nil || arguments["symbol"] != nil }

  /// The size without a proposal: an image with pixels has its scale, a symbol is a square. An image that cannot be used
  /// has no size, as one that a phone does not find.
  private var ownSize: Size? {
    if let width = arguments["pixelWidth"]?.finite, let height = arguments["pixelHeight"]?.finite {
      let scale = arguments["scale"]?.finite.flatMap { $0 > 0 ? $0 : nil } ?? 1
      return Size(width: max(0, width) / scale, height: max(0, height) / scale)
    }
    if arguments["problem"] != nil { return .zero }
    if let variant = SymbolVariant(arguments["symbol"], style) { return variant.size }
    // A redacted image has no other arguments left: it is shown as a symbol is.
    guard isSymbol || arguments["text"] != nil else { return nil }
    let side = Self.symbolSide(metrics, style.imageScale)
    return Size(width: side, height: side)
  }

  /// The side of a symbol in points.
  static func symbolSide(_ metrics: LineMetrics, _ scale: String) -> Double {
    metrics.capHeight * 1.4 * factor(of: scale)
  }

  /// The size of a scale as a factor of the medium one.
  static func factor(of scale: String) -> Double { scale == "small" ? 0.8 : scale == "large" ? 1.3 : 1 }

  override func calculateSize(_ proposal: Proposal) -> Size {
    let own = ownSize ?? .zero
    guard isResizable else { return own }
    return Size(width: proposal.width ?? own.width, height: proposal.height ?? own.height)
  }

  /// A symbol is centred on the capital letters of the text beside it.
  override func baseline(_ guide: AlignmentGuide, _ proposal: Proposal) -> Double? {
    guard isSymbol, !isResizable else { return nil }
    return size(proposal).height / 2 + metrics.capHeight / 2
  }

  override func place(at origin: Point, _ proposal: Proposal) -> [PlacedView] {
    var view = placed(arguments, at: origin, size(proposal))
    view.operations = operations
    return [view]
  }
}
