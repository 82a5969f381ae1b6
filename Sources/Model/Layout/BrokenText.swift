// SPDX-License-Identifier: Apache-2.0

import Archive

/// A part of a text with one style.
struct TextRun {
  var text: String
  var style: ViewStyle
  /// The arguments of an image within the text.
  var image: [String: ArchivedValue]?
}

/// A text in segments: words with the spaces after them, single ideographs, images, and parts of very long words. It does
/// not depend on the fonts.
struct BrokenText {
  struct Segment {
    var text: Substring
    /// The index of the run that contains it.
    var run: Int
    /// Its place in the UTF-8 of the whole text.
    var offset: Int
    /// Whether a line may end after it.
    var mayEndLine: Bool
    var isNewLine = false
  }

  let runs: [TextRun]
  /// `nil`: the whole text is from left to right.
  let directions: TextDirections?
  private(set) var segments: [Segment] = []

  /// A longer word has several segments, so that a part of it is measured quickly.
  private static let mostCharacters = 100
  /// An image in the text as a character: a line may end before and after it.
  private static let image = "\u{FFFC}"

  /// - Parameter isRightToLeft: the direction of a paragraph without letters.
  init(_ runs: [TextRun], _ rules: any TextRules, isRightToLeft: Bool) {
    self.runs = runs
    let texts = runs.map { $0.image == nil ? $0.text : Self.image }
    // One text for all runs, since a word may have several styles.
    let whole = texts.count == 1 ? texts[0] : texts.joined()
    directions = whole.isEmpty ? nil : rules.directions(of: whole, isRightToLeft: isRightToLeft)
    if whole.isEmpty { return }
    let ends = rules.lineEnds(of: whole)
    var (next, offset) = (0, 0)
    for (run, text) in texts.enumerated() {
      let limit = offset + text.utf8.count
      var start = text.startIndex
      while offset < limit {
        while next < ends.count, ends[next] <= offset { next += 1 }
        let end = next < ends.count ? min(ends[next], limit) : limit
        let index = text.utf8.index(start, offsetBy: end - offset)
        let isEnd = next < ends.count ? ends[next] == end : true
        append(text[start..<index], run: run, offset, mayEndLine: isEnd, isImage: runs[run].image != nil)
        (start, offset) = (index, end)
      }
    }
  }

  private mutating func append(_ text: Substring, run: Int, _ offset: Int, mayEndLine: Bool, isImage: Bool) {
    if isImage {
      segments.append(Segment(text: "", run: run, offset: offset, mayEndLine: mayEndLine))
      return
    }
    let end = text.endsWithNewLine ? text.index(before: text.endIndex) : text.endIndex
    var (words, offset) = (text[..<end], offset)
    while words.utf8.count > Self.mostCharacters,
      let middle = words.index(words.startIndex, offsetBy: Self.mostCharacters, limitedBy: words.endIndex),
      middle < words.endIndex
    {
      segments.append(Segment(text: words[..<middle], run: run, offset: offset, mayEndLine: false))
      offset += words[..<middle].utf8.count
      words = words[middle...]
    }
    if !words.isEmpty {
      segments.append(Segment(text: words, run: run, offset: offset, mayEndLine: mayEndLine))
    }
    if end < text.endIndex {
      offset += words.utf8.count
      segments.append(Segment(text: text[end...], run: run, offset: offset, mayEndLine: true, isNewLine: true))
    }
  }
}

extension Substring {
  /// The text without the spaces at its end.
  var trimmingSpaces: Substring {
    var bytes = utf8
    while bytes.last == UInt8(ascii: " ") { bytes.removeLast() }
    return bytes.count == utf8.count ? self : Substring(bytes)
  }

  /// Whether the last character is a new line. Its last byte excludes nearly all others.
  fileprivate var endsWithNewLine: Bool {
    guard let byte = utf8.last, (0x0A...0x0D).contains(byte) || [0x85, 0xA8, 0xA9].contains(byte) else { return false }
    return last?.isNewline == true
  }
}
