// SPDX-License-Identifier: Apache-2.0

import Archive

/// `HStack`, `VStack` and views that are laid out like them. Source: OpenSwiftUI, `Layout/Stack/StackLayout.swift`.
final class StackNode: ViewNode {
  /// A child with the size and the place that the stack gives it.
  private struct Child {
    let node: LayoutNode
    /// From the previous child.
    let gap: Double
    var proposal = Proposal.ideal
    var size = Size.zero
    var origin = Point(x: 0, y: 0)
  }

  private struct Arrangement {
    var children: [Child]
    var size = Size.zero
  }

  private let axis: Axis
  private let alignment: AlignmentGuide
  private let children: [Child]
  private let arguments: ArchivedArguments
  private var last: (proposal: Proposal, arrangement: Arrangement)?

  /// - Parameter distance: between the children, in points; `nil`: what they prefer.
  init(
    _ view: ViewName, along axis: Axis, alignment: AlignmentGuide, distance: Double?, nodes: [LayoutNode],
    arguments: ArchivedArguments = [:], style: ViewStyle, context: LayoutContext
  ) {
    self.axis = axis
    self.alignment = alignment
    self.arguments = arguments
    children = nodes.enumerated().map { index, node in
      if index == 0 { return Child(node: node, gap: 0) }
      return Child(
        node: node, gap: distance ?? Spacing.distance(from: nodes[index - 1].spacing, to: node.spacing, along: axis))
    }
    super.init(view, style: style, context: context)
  }

  override func calculateSize(_ proposal: Proposal) -> Size { arranged(proposal).size }

  override func baseline(_ guide: AlignmentGuide, _ proposal: Proposal) -> Double? {
    let baselines = arranged(placing(proposal)).children.compactMap { child in
      child.node.baseline(guide, child.proposal).map { $0 + child.origin.y }
    }
    return guide.combined(baselines)
  }

  override func findOwnGuide(_ guide: AlignmentGuide, axis: Axis, proposal: Proposal) -> Double? {
    averageGuide(
      arranged(placing(proposal)).children.compactMap { child in
        child.node.ownGuide(guide, axis: axis, proposal: child.proposal).map { $0 + child.origin[axis] }
      })
  }

  override func place(at origin: Point, _ proposal: Proposal) -> [PlacedView] {
    let arrangement = arranged(placing(proposal))
    var view = placed(arguments, at: origin, size(proposal))
    view.children = inDrawingOrder(arrangement.children, \.node.zIndex).flatMap { child in
      child.node.place(at: Point(x: origin.x + child.origin.x, y: origin.y + child.origin.y), child.proposal)
    }
    return [view]
  }

  override func preferredSpacing() -> Spacing {
    guard let first = children.first, let last = children.last else { return .zero }
    var spacing = Spacing(top: .init(), leading: .init(), bottom: .init(), trailing: .init())
    for child in children {
      let own = child.node.spacing[axis.other]
      spacing[axis.other].start.formUnion(own.start)
      spacing[axis.other].end.formUnion(own.end)
    }
    spacing[axis].start = first.node.spacing[axis].start
    spacing[axis].end = last.node.spacing[axis].end
    return spacing
  }

  /// The proposal for placing: across the axis with the stack's size where none was proposed.
  private func placing(_ proposal: Proposal) -> Proposal {
    let across = axis.other
    return Proposal(proposal[axis], along: axis, across: proposal[across] ?? size(proposal)[across])
  }

  private func arranged(_ proposal: Proposal) -> Arrangement {
    if let last, last.proposal == proposal { return last.arrangement }
    var arrangement = Arrangement(children: children)
    if let length = proposal[axis] {
      share(length, across: proposal[axis.other], children: &arrangement.children)
    } else {
      for index in arrangement.children.indices {
        give(nil, proposal[axis.other], to: &arrangement.children[index])
      }
    }
    align(&arrangement)
    last = (proposal, arrangement)
    return arrangement
  }

  private func give(_ length: Double?, _ across: Double?, to child: inout Child) {
    child.proposal = Proposal(length, along: axis, across: across)
    child.size = child.node.size(child.proposal)
  }

  /// Divides a length among the children: those with a higher priority first, then the less flexible ones. Each is
  /// offered an equal share of what is left.
  private func share(_ length: Double, across: Double?, children: inout [Child]) {
    var rest = length - children.reduce(0) { $0 + $1.gap }
    var groups: [(priority: Double, members: [Int])] = []
    for index in children.indices.sorted(by: { children[$0].node.priority > children[$1].node.priority }) {
      let priority = children[index].node.priority
      if groups.last?.priority == priority {
        groups[groups.count - 1].members.append(index)
      } else {
        groups.append((priority, [index]))
      }
    }
    func least(_ index: Int) -> Double {
      children[index].node.size(Proposal(0, along: axis, across: across))[axis]
    }
    for group in groups.dropFirst() { for index in group.members { rest -= least(index) } }
    for (number, group) in groups.enumerated() {
      if number > 0 { for index in group.members { rest += least(index) } }
      var remaining = group.members.count
      for index in inFittingOrder(group.members, children: children, across: across) {
        give(max(rest / Double(remaining), 0), across, to: &children[index])
        let left = rest - children[index].size[axis]
        if !left.isNaN { rest = left }
        remaining -= 1
      }
    }
  }

  /// The less flexible children first; of those that take any length, the one with the larger minimum.
  private func inFittingOrder(_ members: [Int], children: [Child], across: Double?) -> [Int] {
    guard members.count > 1 else { return members }
    let order = members.map { index in
      let least = children[index].node.size(Proposal(0, along: axis, across: across))[axis]
      let most = children[index].node.size(Proposal(.infinity, along: axis, across: across))[axis]
      let flexibility = most - least
      return (index: index, flexibility: flexibility, least: flexibility == .infinity ? -least : 0)
    }
    return order.sorted { first, second in
      if first.flexibility != second.flexibility { return first.flexibility < second.flexibility }
      return first.least == second.least ? first.index < second.index : first.least < second.least
    }.map(\.index)
  }

  /// Places the children in a row, and across it by their guides.
  private func align(_ arrangement: inout Arrangement) {
    let across = axis.other
    var (lower, upper) = (0.0, 0.0)
    for (index, child) in arrangement.children.enumerated() {
      let guide = child.node.guide(alignment, axis: across, proposal: child.proposal)
      let start = guide.isFinite ? -guide : 0
      arrangement.children[index].origin[across] = start
      lower = min(lower, start)
      upper = max(upper, start + child.size[across])
    }
    var place = 0.0
    for (index, child) in arrangement.children.enumerated() {
      place += child.gap
      arrangement.children[index].origin[axis] = place.isFinite ? place : 0
      arrangement.children[index].origin[across] -= lower
      place += child.size[axis]
    }
    arrangement.size[axis] = place
    arrangement.size[across] = upper - lower
  }
}

/// The place of a guide that several views of a container set: their average. Source: OpenSwiftUI,
/// `Layout/Alignment/AlignmentID.swift`.
func averageGuide(_ places: [Double]) -> Double? {
  places.isEmpty ? nil : places.reduce(0, +) / Double(places.count)
}

/// The elements in the order in which they are drawn: by their z index, and otherwise as they are.
func inDrawingOrder<Element>(_ elements: [Element], _ index: (Element) -> Double) -> [Element] {
  elements.enumerated().sorted { first, second in
    let (one, other) = (index(first.element), index(second.element))
    return one == other ? first.offset < second.offset : one < other
  }.map(\.element)
}
