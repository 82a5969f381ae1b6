// SPDX-License-Identifier: Apache-2.0

/// A line by which views are aligned. Source: `SwiftUI.HorizontalAlignment`, `SwiftUI.VerticalAlignment`.
enum AlignmentGuide: String {
  case leading, center, trailing, top, bottom, firstTextBaseline, lastTextBaseline

  /// The place of the guide in a view that sets none, in points from its leading or top edge.
  func standard(in length: Double) -> Double {
    switch self {
    case .leading, .top: 0
    case .center: length / 2
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
  /// The alignment that an archive names, such as `leading`, `bottomTrailing` or `firstTextBaselineLeading`.
  ///
  /// - Returns: `nil` for a guide of the author.
  init?(named name: String) {
    self = .center
    var rest = Substring(name)
    for vertical in [AlignmentGuide.top, .bottom, .firstTextBaseline, .lastTextBaseline]
    where rest.hasPrefix(vertical.rawValue) {
      self.vertical = vertical
      rest = rest.dropFirst(vertical.rawValue.count)
    }
    guard !rest.isEmpty, let horizontal = AlignmentGuide(rawValue: rest.prefix(1).lowercased() + rest.dropFirst())
    else {
      if !rest.isEmpty { return nil }
      return
    }
    self.horizontal = horizontal
  }
}
