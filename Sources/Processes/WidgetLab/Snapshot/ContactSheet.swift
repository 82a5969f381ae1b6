// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation

/// A page that shows the pictures of a run. It has no script.
struct ContactSheet {
  let pictures: [SnapshotRun.Made]
  /// What is not drawn.
  let notices: [String]

  var html: String {
    var text = """
      <!doctype html>
      <html lang="en">
      <meta charset="utf-8">
      <title>Widgets</title>
      <style>
      body { font: 14px system-ui, sans-serif; margin: 24px; background: #fff; color: #222 }
      section { display: flex; flex-wrap: wrap; gap: 24px; align-items: flex-start }
      figure { margin: 0; padding: 16px; background: #ccd6e6; border-radius: 8px }
      figure.dark, figure.tinted { background: #3d424f; color: #eee }
      figcaption { margin-top: 12px; font-size: 12px }
      img { display: block }
      </style>
      <h1>Widgets</h1>

      """
    for (kind, pictures) in Dictionary(grouping: pictures, by: \.name.kind).sorted(by: { $0.key < $1.key }) {
      text += "<h2>\(Self.escaped(kind))</h2>\n<section>\n"
      for picture in pictures {
        // Accented and vibrant widgets are white on what is behind them.
        let look = picture.name.mode == .fullColor ? picture.name.scheme.rawValue : "tinted"
        let path = picture.file.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? picture.file
        text += "<figure class=\"\(look)\"><img src=\"./\(Self.escaped(path))\" width=\"\(Self.text(picture.width))\""
        text += " height=\"\(Self.text(picture.height))\" alt=\"\(Self.escaped("\(kind) \(picture.name.caption)"))\">"
        text += "<figcaption>\(Self.escaped(picture.name.caption))</figcaption></figure>\n"
      }
      text += "</section>\n"
    }
    if !notices.isEmpty {
      text += "<h2>Not drawn as on a device</h2>\n<ul>\n"
      text += notices.map { "<li>\(Self.escaped($0))</li>\n" }.joined() + "</ul>\n"
    }
    return text + "</html>\n"
  }

  private static func text(_ points: Double) -> String {
    points == points.rounded() ? "\(Int(saturating: points))" : "\(points)"
  }

  static func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      default: result.append(character)
      }
    }
    return result
  }
}
