// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Layout

extension PictureBuilder {
  /// The name of an image in notices.
  func named(_ arguments: [String: ArchivedValue]) -> String {
    arguments["name"]?.string.map { "the image \"\($0)\"" } ?? "an image"
  }

  /// The drawings of an image: its file, in the foreground style if it is a template; a symbol of the system or of the
  /// author; or, for a hidden image, a rounded rectangle. An image that cannot be drawn has a notice.
  mutating func image(_ view: PlacedView) -> [Drawing] {
    let arguments = view.arguments
    if arguments["systemName"] != nil {
      return symbol(arguments, view.frame, view.style, operations: view.operations)
    }
    if arguments["text"] != nil {
      let radius = min(view.frame.size.width, view.frame.size.height) / 4
      return [
        .fill(
          Path(roundedRect: view.frame, radii: Array(repeating: radius, count: 4), isContinuous: false),
          paints.foreground(view.style, in: view.frame).faded(0.2), isEvenOdd: false)
      ]
    }
    guard let digest = arguments["image"]?.string else {
      note("\(named(arguments)) is not drawn: \(arguments["problem"]?.string ?? "its pixels are not known")")
      return []
    }
    guard let data = images[digest] else {
      note("\(named(arguments)) is not drawn: its bytes are missing")
      return []
    }
    do throws(ImageFault) {
      noteModifiers(of: view)
      if let variant = SymbolVariant(arguments["symbol"], view.style) { return try symbol(data, variant, view) }
      var drawings: [Drawing]
      if VectorFile.isLikely(data) {
        let image = try VectorImage(data, in: view.frame)
        note(image.missing, of: view)
        drawings = image.drawings
      } else {
        let file = try ImageFile(checking: data)
        drawings = [.image(mediaType: file.format.mediaType, base64: data.base64EncodedString(), view.frame)]
      }
      return isTemplate(view) ? [template(drawings, view)] : drawings
    } catch {
      note("\(named(arguments)) is not drawn: \(error)")
      return []
    }
  }

  /// The author's mode, the last one first, or else that of the asset catalog.
  private func isTemplate(_ view: PlacedView) -> Bool {
    let own = view.operations.last { $0.name == .shape(.renderingMode) && $0.arguments["mode"] != nil }
    return (own?.arguments["mode"] ?? view.arguments["intent"]) == "template"
  }

  /// The foreground style with the opacity of the image.
  private mutating func template(_ drawings: [Drawing], _ view: PlacedView) -> Drawing {
    var group = Drawing.Group()
    group.mask = drawings
    let paint = paints.foreground(view.style, in: view.frame)
    return .group(group, [.fill(Path(view.frame), paint, isEvenOdd: false)])
  }

  /// A custom symbol: its shapes in the foreground style, whatever their own colours are.
  private mutating func symbol(
    _ data: Data, _ variant: SymbolVariant, _ view: PlacedView
  ) throws(ImageFault) -> [Drawing] {
    let name = named(view.arguments)
    let mode = view.style.symbolRenderingMode ?? (view.style.foreground.count > 1 ? "palette" : "monochrome")
    if mode == "multicolor" { note("\(name) is drawn in one colour") }
    if view.arguments["variableValue"] != nil { note("the variable value of \(name) is not drawn") }
    let levels = ["hierarchical", "palette"].contains(mode) ? 0..<3 : 0..<1
    let paints = levels.map { paint($0, view.style, view.frame) }
    let image = try VectorImage(symbol: data, variant, in: view.frame, paints)
    note(image.missing, of: view)
    var group = Drawing.Group()
    group.label = view.arguments["name"]?.string ?? "symbol"
    return [.group(group, image.drawings)]
  }

  private mutating func note(_ missing: [String], of view: PlacedView) {
    for name in missing { note("\(named(view.arguments)) is drawn without \(name)") }
  }

  /// Names the modifiers that a picture does not obey.
  private mutating func noteModifiers(of view: PlacedView) {
    for operation in view.operations {
      guard case .shape(let name) = operation.name else { continue }
      switch name {
      case .resizable:
        for label in ["capInsets", "resizingMode"] where operation.arguments[label] != nil {
          note("\(named(view.arguments)) is stretched: \(label) of resizable has no effect")
        }
      case .interpolation where operation.arguments["interpolation"] == "none":
        note("\(named(view.arguments)) is drawn smooth: interpolation(.none) has no effect")
      case .interpolation, .renderingMode, .antialiased, .fill, .stroke, .strokeBorder, .trim, .rotation, .scale, .size,
        .chartPlotStyle:
        break
      }
    }
  }
}
