// SPDX-License-Identifier: Apache-2.0

/// The rules of Unicode for texts. A layout calls them on one thread, and often for the same text.
package protocol TextRules {
  /// Where a line may end, and where it has to: the places in the text's UTF-8, in ascending order. The last one is the end
  /// of the text. Source: Unicode Standard Annex 14.
  func lineEnds(of text: String) -> [Int]

  /// The directions of the characters. Each paragraph has the direction of its first letter.
  /// Source: Unicode Standard Annex 9.
  ///
  /// - Parameter isRightToLeft: the direction of a paragraph without letters.
  /// - Returns: `nil` for a text that has only one direction, from left to right.
  func directions(of text: String, isRightToLeft: Bool) -> TextDirections?
}

/// The directions within a text. An even level is from left to right, an odd one from right to left.
package struct TextDirections: Hashable, Sendable {
  /// A part of the text with one level, up to the next part.
  package struct Part: Hashable, Sendable {
    /// The place in the text's UTF-8.
    package var start: Int
    package var level: Int

    package init(start: Int, level: Int) {
      self.start = start
      self.level = level
    }
  }

  /// In ascending order; the first begins at 0.
  package var parts: [Part]
  /// The same for the paragraphs.
  package var paragraphs: [Part]

  package init(parts: [Part], paragraphs: [Part]) {
    self.parts = parts
    self.paragraphs = paragraphs
  }

  /// The level of the paragraph that contains a place.
  func paragraphLevel(at place: Int) -> Int { paragraphs.last { $0.start <= place }?.level ?? 0 }

  /// The parts of a range of the text's UTF-8.
  func parts(in range: Range<Int>) -> [(range: Range<Int>, level: Int)] {
    // The last part that begins at or before the range.
    var (lower, upper) = (0, parts.count)
    while lower < upper {
      let middle = (lower + upper) / 2
      if parts[middle].start <= range.lowerBound { lower = middle + 1 } else { upper = middle }
    }
    var found: [(range: Range<Int>, level: Int)] = []
    var start = range.lowerBound
    for index in max(0, lower - 1)..<parts.count where start < range.upperBound {
      let end = index + 1 < parts.count ? min(parts[index + 1].start, range.upperBound) : range.upperBound
      if start < end { found.append((start..<end, parts[index].level)) }
      start = max(start, end)
    }
    return found
  }

  /// The order from left to right of parts with these levels. Source: Unicode Standard Annex 9, rule L2.
  static func visualOrder(_ levels: [Int]) -> [Int] {
    var order = Array(levels.indices)
    guard let most = levels.max(), let least = levels.filter({ $0 % 2 == 1 }).min() else { return order }
    for level in stride(from: most, through: least, by: -1) {
      var start = 0
      while start < order.count {
        guard levels[order[start]] >= level else {
          start += 1
          continue
        }
        let end = order[start...].firstIndex { levels[$0] < level } ?? order.count
        order[start..<end].reverse()
        start = end
      }
    }
    return order
  }
}
