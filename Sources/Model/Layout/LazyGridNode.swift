// SPDX-License-Identifier: Apache-2.0

import Archive

/// A `GridItem`: one column or several columns of a `LazyVGrid`, one row or several rows of a `LazyHGrid`. Lengths in points.
struct LazyGridTrack {
  enum Length {
    case fixed(Double)
    case flexible(Double, Double)
    case adaptive(Double, Double)
  }

  var length = Length.flexible(10, .infinity)
  /// To the next item, and between the columns of an adaptive one.
  var spacing = Spacing.standard
  var alignment = Alignment.center

  var isFixed: Bool { if case .fixed = length { true } else { false } }

  init(_ value: ArchivedValue, _ name: String, _ context: LayoutContext) {
    guard case .record(let parts) = value else { return }
    /// A length that SwiftUI accepts.
    func accepted(_ value: ArchivedValue?, _ usual: Double) -> Double {
      guard let number = value?.number else { return usual }
      if number == .infinity, usual == .infinity { return number }
      guard number.isFinite, number >= 0 else {
        context.note(.invalidNumber, "\(name)(GridItem)")
        return usual
      }
      return min(number, 1_000_000)
    }
    /// Two limits; the lower one wins.
    func limits(_ value: ArchivedValue) -> (Double, Double) {
      guard case .list(let numbers) = value, numbers.count == 2 else { return (10, .infinity) }
      let least = accepted(numbers[0], 10)
      return (least, max(least, accepted(numbers[1], .infinity)))
    }
    if let fixed = parts["fixed"] {
      length = .fixed(accepted(fixed, 0))
    } else if let range = parts["flexible"].map(limits) {
      length = .flexible(range.0, range.1)
    } else if let range = parts["adaptive"].map(limits) {
      length = .adaptive(range.0, range.1)
    }
    if parts["spacing"] != nil { spacing = accepted(parts["spacing"], Spacing.standard) }
    if let name = parts["alignment"]?.string {
      if let own = Alignment(named: name) {
        alignment = own
      } else {
        context.note(.modifierNotLaidOut, "the alignment \(name)")
      }
    }
  }
}

/// `LazyVGrid` and `LazyHGrid`. A widget creates all of their views. Source: objc.io, "How SwiftUI lays out grids".
final class LazyGridNode: CellsNode {
  /// A column of a `LazyVGrid`, a row of a `LazyHGrid`.
  private struct Lane {
    var start: Double
    var length: Double
    var alignment: Alignment
  }

  private struct Arrangement {
    var lanes: [Lane]
    /// The lengths of the lines: of the rows of a `LazyVGrid`.
    var lines: [Double]
    /// Of all lanes with their gaps.
    var across = 0.0
    var along = 0.0
  }

  /// A grid has no more lanes.
  static let mostLanes = 1000

  /// The axis in which lines follow each other: vertical for a `LazyVGrid`.
  private let axis: Axis
  private let tracks: [LazyGridTrack]
  private let alignment: AlignmentGuide
  private let gap: Double
  private let children: [LayoutNode]
  private var last: (proposal: Proposal, arrangement: Arrangement)?

  /// - Parameters:
  ///   - alignment: of the lanes in the width of the grid.
  ///   - distance: between the lines, in points.
  init(
    _ view: ViewName, along axis: Axis, _ tracks: [LazyGridTrack], _ alignment: AlignmentGuide, distance: Double?,
    _ children: [LayoutNode], _ style: ViewStyle, _ context: LayoutContext
  ) {
    self.axis = axis
    self.tracks = tracks
    self.alignment = alignment
    self.children = children
    gap = distance ?? Spacing.standard
    super.init(view, style, context)
  }

  // MARK: Sizes

  override func calculateSize(_ proposal: Proposal) -> Size {
    let found = arranged(proposal)
    var size = Size.zero
    size[axis.other] = found.across
    size[axis] = found.along
    return size
  }

  private func arranged(_ proposal: Proposal) -> Arrangement {
    if let last, last.proposal == proposal { return last.arrangement }
    let arrangement = arrangement(across: proposal[axis.other])
    last = (proposal, arrangement)
    return arrangement
  }

  private func arrangement(across length: Double?) -> Arrangement {
    var found = Arrangement(lanes: lanes(in: length), lines: [])
    found.across = found.lanes.last.map { $0.start + $0.length } ?? 0
    guard !found.lanes.isEmpty else { return found }
    for first in stride(from: 0, to: children.count, by: found.lanes.count) {
      let cells = zip(children[first...], found.lanes)
      found.lines.append(
        cells.reduce(0) { most, cell in
          max(most, cell.0.size(Proposal(nil, along: axis, across: cell.1.length))[axis])
        })
    }
    found.along = found.lines.reduce(gap * Double(max(0, found.lines.count - 1)), +)
    return found
  }

  /// The proposal less the gaps and the fixed lengths is divided among the other items, in their order: each gets an equal
  /// share of what is left, within its limits. An adaptive item has as many lanes in its share as fit.
  ///
  /// - Parameter proposed: `nil`: each item has its least length.
  private func lanes(in proposed: Double?) -> [Lane] {
    var rest = proposed ?? 0
    for (index, track) in tracks.enumerated() {
      if case .fixed(let length) = track.length { rest -= length }
      if index < tracks.count - 1 { rest -= track.spacing }
    }
    var sharing = tracks.count { !$0.isFixed }
    var (lanes, place) = ([Lane](), 0.0)
    func share(_ least: Double, _ most: Double) -> Double {
      let own = proposed == nil ? least : max(0, rest / Double(sharing)).clamped(least, most)
      sharing -= 1
      if own.isFinite { rest -= own }
      return own
    }
    for track in tracks where lanes.count < Self.mostLanes {
      var (number, length) = (1, 0.0)
      switch track.length {
      case .fixed(let own): length = own
      case .flexible(let least, let most): length = share(least, most)
      case .adaptive(let least, let most):
        let whole = share(least, .infinity)
        number = min(count(of: least, track.spacing, in: whole), Self.mostLanes - lanes.count)
        length = ((whole - Double(number - 1) * track.spacing) / Double(number)).clamped(least, most)
      }
      for _ in 0..<number {
        lanes.append(Lane(start: place, length: length, alignment: track.alignment))
        place += length + track.spacing
      }
    }
    return lanes
  }

  /// How many lanes of a least length fit, with gaps between them.
  private func count(of least: Double, _ spacing: Double, in length: Double) -> Int {
    guard length.isFinite else { return max(1, min(children.count, Self.mostLanes)) }
    let count = ((length + spacing + 0.001) / max(least + spacing, 0.001)).rounded(.down)
    return Int(saturating: count.clamped(1, Double(Self.mostLanes)))
  }

  // MARK: Places

  /// The cells for the size that the grid has: a second pass begins with the width that the first one found.
  override func cells(_ proposal: Proposal) -> [PlacedCell] {
    let across = size(proposal)[axis.other]
    let found = arrangement(across: across)
    guard !found.lanes.isEmpty else { return [] }
    let inset = alignment.standard(in: across) - alignment.standard(in: found.across)
    var (cells, line) = ([PlacedCell](), 0.0)
    for (row, first) in stride(from: 0, to: children.count, by: found.lanes.count).enumerated() {
      for (child, lane) in zip(children[first...], found.lanes) {
        let proposal = Proposal(nil, along: axis, across: lane.length)
        func offset(_ own: Axis, _ length: Double) -> Double {
          lane.alignment[own].standard(in: length) - child.guide(lane.alignment[own], own, proposal)
        }
        var place = Point(x: 0, y: 0)
        place[axis.other] = inset + lane.start + offset(axis.other, lane.length)
        place[axis] = line + offset(axis, found.lines[row])
        if !place.x.isFinite { place.x = 0 }
        if !place.y.isFinite { place.y = 0 }
        cells.append((child, place, proposal))
      }
      line += found.lines[row] + gap
    }
    return cells
  }
}

extension LayoutBuilder {
  /// `LazyVGrid` and `LazyHGrid`.
  func lazyGrid(_ view: ViewArchive, along axis: Axis, _ style: ViewStyle, depth: Int) -> LayoutNode {
    let arguments = Arguments(of: view, context)
    var tracks: [LazyGridTrack] = []
    if case .list(let values) = view.arguments[axis == .vertical ? "columns" : "rows"] {
      tracks = values.prefix(LazyGridNode.mostLanes).map { LazyGridTrack($0, view.name.rawValue, context) }
    }
    return LazyGridNode(
      view.name, along: axis, tracks, arguments.alignment[axis.other], distance: arguments.number("spacing"),
      nodes(of: view.children, style, axis: nil, depth: depth), style, context)
  }
}
