// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Layout

extension PictureBuilder {
  /// The name of an image in notices.
  func named(_ arguments: [String: ArchivedValue]) -> String {
    arguments["name"]?.string.map { "the image \"\($0)\"" } ?? "an image"
  }

  /// The drawings of an image: its file, in the foreground style if it is a template; a symbol; or, for a hidden image, a
  /// rounded rectangle. An image that cannot be drawn has a notice.
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
      let file = try ImageFile(checking: data)
      noteModifiers(of: view)
      let picture = Drawing.image(
        mediaType: file.format.mediaType, base64: data.base64EncodedString(), view.frame)
      return [isTemplate(view) ? template(picture, view) : picture]
    } catch {
      note("\(named(arguments)) is not drawn: \(error)")
      return []
    }
  }

  /// The author's mode, the last one first, or else that of the asset catalog.
  private func isTemplate(_ view: PlacedView) -> Bool {
    let own = view.operations.last { $0.name == "renderingMode" && $0.arguments["mode"] != nil }
    return (own?.arguments["mode"] ?? view.arguments["intent"]) == "template"
  }

  /// The foreground style with the opacity of the image.
  private mutating func template(_ picture: Drawing, _ view: PlacedView) -> Drawing {
    var group = Drawing.Group()
    group.mask = [picture]
    let paint = paints.foreground(view.style, in: view.frame)
    return .group(group, [.fill(Path(view.frame), paint, isEvenOdd: false)])
  }

  /// Names the modifiers that a picture does not obey.
  private mutating func noteModifiers(of view: PlacedView) {
    for operation in view.operations {
      switch operation.name {
      case "resizable":
        for label in ["capInsets", "resizingMode"] where operation.arguments[label] != nil {
          note("\(named(view.arguments)) is stretched: \(label) of resizable has no effect")
        }
      case "interpolation" where operation.arguments["interpolation"] == "none":
        note("\(named(view.arguments)) is drawn smooth: interpolation(.none) has no effect")
      default: break
      }
    }
  }
}
