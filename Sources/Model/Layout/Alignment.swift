// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A line by which views are aligned. Source: `SwiftUI.HorizontalAlignment`, `SwiftUI.VerticalAlignment`.
enum AlignmentGuide: Hashable {
  case leading, center, trailing, top, bottom, firstTextBaseline, lastTextBaseline
  /// A guide of the author.
  case custom(String)

  private static let system: [AlignmentGuide] = [
    .leading, .center, .trailing, .top, .bottom, .firstTextBaseline, .lastTextBaseline,
  ]

  /// A guide of the system, or else one of the author.
  init(named name: some StringProtocol) {
    self = Self.system.first { $0.name == name } ?? .custom(String(name))
  }

  var name: String { if case .custom(let name) = self { name } else { "\(self)" } }
  var isCustom: Bool { if case .custom = self { true } else { false } }

  /// The place of the guide in a view that sets none, in points from its leading or top edge. That of a guide of the
  /// author is not known here: it is the centre.
  func standard(in length: Double) -> Double {
    switch self {
    case .leading, .top: 0
    case .center, .custom: length / 2
    case .trailing, .bottom, .firstTextBaseline, .lastTextBaseline: length
    }
  }

  /// Combines the places in several children.
  func combined(_ places: [Double]) -> Double? { self == .lastTextBaseline ? places.max() : places.min() }

  var isBaseline: Bool { self == .firstTextBaseline || self == .lastTextBaseline }
}

/// How a view is aligned on both axes. Source: `SwiftUI.Alignment`.
struct Alignment: Equatable {
  var horizontal: AlignmentGuide
  var vertical: AlignmentGuide

  static let center = Alignment(horizontal: .center, vertical: .center)
  static let topLeading = Alignment(horizontal: .leading, vertical: .top)

  subscript(axis: Axis) -> AlignmentGuide { axis == .horizontal ? horizontal : vertical }
}

extension Alignment {
  /// The alignment that an archive names, such as `leading`, `bottomTrailing` or `firstTextBaselineLeading`, or with a
  /// guide of the author `(Mine, top)`.
  ///
  /// - Returns: `nil` for another name.
  init?(named name: String) {
    self = .center
    if name.hasPrefix("("), name.hasSuffix(")"), let comma = name.range(of: ", ", options: .backwards) {
      horizontal = AlignmentGuide(named: name[name.index(after: name.startIndex)..<comma.lowerBound])
      vertical = AlignmentGuide(named: name[comma.upperBound...].dropLast())
      return
    }
    var rest = Substring(name)
    for vertical in [AlignmentGuide.top, .bottom, .firstTextBaseline, .lastTextBaseline]
    where rest.hasPrefix(vertical.name) {
      self.vertical = vertical
      rest = rest.dropFirst(vertical.name.count)
    }
    if rest.isEmpty { return }
    let horizontal = AlignmentGuide(named: rest.prefix(1).lowercased() + rest.dropFirst())
    if horizontal.isCustom { return nil }
    self.horizontal = horizontal
  }
}
