// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Layout

@testable import Pictures

/// Pictures of single views in a widget of 158 points with margins of 16.
struct PictureSample {
  let font: InterFont

  init() throws { font = try InterFont() }

  func picture(
    _ view: ViewArchive, _ style: PictureStyle = PictureStyle(), family: WidgetFamilyName? = nil,
    images: [String: Data] = ["red": PictureSample.png]
  ) -> Picture {
    let canvas = LayoutCanvas(size: Size(width: 158, height: 158), margins: Insets(16), family: family)
    return view.picture(in: canvas, style, with: font, images: images)
  }

  /// A PNG file of one opaque red pixel.
  static let png =
    Data(
      base64Encoded:
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC") ?? Data()

  func svg(_ view: ViewArchive, _ style: PictureStyle = PictureStyle(), family: WidgetFamilyName? = nil) -> String {
    picture(view, style, family: family).svg(outlines: font)
  }
}

extension Picture {
  /// All paints of shapes, lines and texts, in drawing order.
  var paints: [Paint] { drawings.flatMap(\.paints) }
  /// All groups, outer ones first.
  var groups: [Drawing.Group] { drawings.flatMap(\.groups) }
}

extension Drawing {
  fileprivate var paints: [Paint] {
    switch self {
    case .fill(_, let paint, _), .stroke(_, let paint, _), .text(_, _, let paint): [paint]
    case .image: []
    case .group(_, let drawings): drawings.flatMap(\.paints)
    }
  }

  fileprivate var groups: [Group] {
    guard case .group(let group, let drawings) = self else { return [] }
    return [group] + drawings.flatMap(\.groups)
  }
}

extension ViewArchive {
  static let red = ViewArchive(.fill(.color), [.color: "red"])

  func with(
    _ name: ModifierName, _ arguments: ArchivedArguments = [:], views: [ViewArchive] = []
  ) -> ViewArchive {
    var view = self
    view.modifiers.append(Modifier(name, arguments, views: views))
    return view
  }
}
