// SPDX-License-Identifier: Apache-2.0

import Foundation
import Pictures

/// A new picture beside its reference.
struct SnapshotVerdict {
  /// Why it does not match; `nil`: it does.
  let reason: String?
  /// The reference, the new picture and the difference, with their names; empty if it matches.
  let files: [(name: String, data: Data)]

  /// SVG documents have to be equal: they are exact everywhere.
  ///
  /// - Parameter reference: `nil`: the folder has no such file.
  init(reference: Data?, _ picture: SnapshotRun.Made, _ format: PictureFormat, _ precision: PixelPrecision) {
    guard let reference else {
      self.init("it has no reference", picture, format, [("new", picture.data)])
      return
    }
    if reference == picture.data {
      self.init(nil, picture, format, [])
      return
    }
    let both = [("reference", reference), ("new", picture.data)]
    switch format {
    case .svg:
      let difference = Self.difference(reference, picture)
      self.init(Self.line(reference, picture.data), picture, format, both + [("difference", difference)])
    case .png:
      do {
        let old = try Pixels(png: Array(reference))
        let comparison = PixelComparison(old, try Pixels(png: Array(picture.data)), precision)
        guard let found = comparison.difference else {
          self.init(nil, picture, format, [])
          return
        }
        let image = try comparison.image?.png()
        self.init(found, picture, format, both + (image.map { [("difference", Data($0))] } ?? []))
      } catch {
        self.init("the reference cannot be read: \(error)", picture, format, both)
      }
    }
  }

  private init(
    _ reason: String?, _ picture: SnapshotRun.Made, _ format: PictureFormat, _ files: [(part: String, data: Data)]
  ) {
    self.reason = reason
    let name = picture.file.dropLast(format.rawValue.count + 1)
    self.files = files.map { ("\(name).\($0.part).\(format.rawValue)", $0.data) }
  }

  /// Names the first line that differs.
  private static func line(_ reference: Data, _ new: Data) -> String {
    func lines(_ data: Data) -> [Substring] {
      String(decoding: data, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    }
    let (old, new) = (lines(reference), lines(new))
    let number = zip(old, new).enumerated().first { $1.0 != $1.1 }?.offset ?? min(old.count, new.count)
    func text(_ lines: [Substring]) -> String {
      lines.indices.contains(number) ? "\"\(lines[number].prefix(120))\"" : "no such line"
    }
    return "line \(number + 1) is \(text(new)), and in the reference \(text(old))"
  }

  /// An SVG document in which equal pixels of both documents are black.
  private static func difference(_ reference: Data, _ picture: SnapshotRun.Made) -> Data {
    let size = "width=\"\(picture.width)\" height=\"\(picture.height)\""
    func image(_ data: Data, _ style: String) -> String {
      "<image \(size)\(style) href=\"data:image/svg+xml;base64,\(data.base64EncodedString())\"/>\n"
    }
    return Data(
      ("<svg xmlns=\"http://www.w3.org/2000/svg\" \(size)>\n" + image(reference, "")
        + image(picture.data, " style=\"mix-blend-mode:difference\"") + "</svg>\n").utf8)
  }
}
