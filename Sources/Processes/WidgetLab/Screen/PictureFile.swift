// SPDX-License-Identifier: Apache-2.0

import Foundation
import Pictures

/// The format of a picture's file.
enum PictureFormat: String, CaseIterable {
  case svg
  case png

  /// The format of a file name; `nil`: of another file.
  init?(path: String) {
    guard let format = Self.allCases.first(where: { path.hasSuffix(".\($0.rawValue)") }) else { return nil }
    self = format
  }
}

/// Makes the files of pictures with the font of the tool. For one thread.
struct PictureFiles {
  let font: InterFont

  /// - Parameter fonts: a folder of font files for characters that Inter does not have.
  init(fonts: String? = nil) throws(CommandError) {
    do {
      font = try InterFont(fallback: fonts.map { URL(filePath: $0, directoryHint: .isDirectory) })
    } catch {
      throw CommandError(
        Exit.configuration, "\(error)", advice: error.code == .library ? "apt-get install libharfbuzz0b" : nil)
    }
  }

  /// The contents of the file of a picture, and what is not drawn.
  ///
  /// - Parameter scale: pixels for each point, in a PNG file.
  func contents(
    of picture: Picture, as format: PictureFormat, scale: Double
  ) throws(CommandError) -> (data: Data, notices: [String]) {
    switch format {
    case .svg: return (Data(picture.svg(outlines: font).utf8), picture.notices)
    case .png:
      do {
        let (pixels, notices) = try picture.pixels(outlines: font, scale: scale)
        return (Data(try pixels.png()), picture.notices + notices)
      } catch {
        throw CommandError(
          Exit.configuration, "\(error)", advice: error.code == .library ? "apt-get install libcairo2" : nil)
      }
    }
  }
}
