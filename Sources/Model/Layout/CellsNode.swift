// SPDX-License-Identifier: Apache-2.0

/// A grid, which places its children as cells. A subclass finds the places.
class CellsNode: ViewNode {
  /// A child, its place from the grid's top leading corner in points, and the proposal that gave it its size.
  typealias PlacedCell = (node: LayoutNode, place: Point, proposal: Proposal)

  private struct BaselineQuestion: Hashable {
    var guide: AlignmentGuide
    var proposal: Proposal
  }

  /// Each baseline is found once, so that nested grids do not repeat the search.
  private var baselines: [BaselineQuestion: Double?] = [:]

  func cells(_ proposal: Proposal) -> [PlacedCell] { [] }

  override final func baseline(_ guide: AlignmentGuide, _ proposal: Proposal) -> Double? {
    let question = BaselineQuestion(guide: guide, proposal: proposal)
    if let known = baselines[question] { return known }
    var found: Double?
    if context.mayMeasure(name) {
      found = guide.combined(
        cells(proposal).compactMap { cell in cell.node.baseline(guide, cell.proposal).map { $0 + cell.place.y } })
    }
    baselines.updateValue(found, forKey: question)
    return found
  }

  override final func place(at origin: Point, _ proposal: Proposal) -> [PlacedView] {
    var view = placed([:], at: origin, size(proposal))
    view.children = inDrawingOrder(cells(proposal), \.node.zIndex).flatMap { cell in
      cell.node.place(at: Point(x: origin.x + cell.place.x, y: origin.y + cell.place.y), cell.proposal)
    }
    return [view]
  }
}
