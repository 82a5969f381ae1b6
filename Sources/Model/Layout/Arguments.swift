// SPDX-License-Identifier: Apache-2.0

import Archive

/// The arguments of a view or a modifier. A number that SwiftUI does not accept is noted and ignored.
struct Arguments {
  private let name: String
  private let values: ArchivedArguments
  private let context: LayoutContext

  /// The largest length in points, so that no sum becomes infinite.
  private static let most = 1_000_000.0

  init(of view: ViewArchive, _ context: LayoutContext) {
    (name, values, self.context) = (view.name.rawValue, view.arguments, context)
  }

  init(of modifier: ViewArchive.Modifier, _ context: LayoutContext) {
    (name, values, self.context) = ("." + modifier.name.rawValue, modifier.arguments, context)
  }

  func isFalse(_ label: ArgumentLabel) -> Bool { values[label] == .bool(false) }
  func string(_ label: ArgumentLabel) -> String? { values[label]?.string }

  /// A finite number.
  func number(_ label: ArgumentLabel) -> Double? {
    guard let number = values[label]?.number else { return nil }
    guard number.isFinite else {
      context.note(.invalidNumber, "\(name)(\(label.rawValue):)")
      return nil
    }
    return number.clamped(-Self.most, Self.most)
  }

  /// A finite number that is not negative.
  func length(_ label: ArgumentLabel) -> Double? {
    guard let number = number(label) else { return nil }
    guard number >= 0 else {
      context.note(.invalidNumber, "\(name)(\(label.rawValue):)")
      return nil
    }
    return number
  }

  /// The limits of a frame by their labels. Only the upper one may be infinite.
  func limits(
    least: ArgumentLabel, ideal: ArgumentLabel, most: ArgumentLabel
  ) -> FlexibleFrameNode.Limits {
    let upper = values[most]?.number == .infinity ? .infinity : number(most)
    return FlexibleFrameNode.Limits(least: number(least), ideal: number(ideal), most: upper)
  }

  /// By guides of the system. One of the author is noted.
  var alignment: Alignment {
    guard let name = values[.alignment]?.string else { return .center }
    guard let alignment = Alignment(named: name), !alignment.horizontal.isCustom, !alignment.vertical.isCustom else {
      context.note(.modifierNotLaidOut, "the alignment \(name)")
      return .center
    }
    return alignment
  }

  /// By guides of the system or of the author, on both axes.
  var layerAlignment: Alignment {
    values[.alignment]?.string.flatMap { Alignment(named: $0) } ?? alignment
  }

  /// The guide of the system or of the author across a stack.
  func guide(across axis: Axis) -> AlignmentGuide {
    guard let name = values[.alignment]?.string else { return .center }
    return Alignment(named: name)?[axis] ?? .custom(name)
  }

  var axes: Set<Axis> {
    guard let names = values[.axes]?.string else { return [.horizontal, .vertical] }
    return Set(names.split(separator: " ").map { $0 == "horizontal" ? .horizontal : .vertical })
  }

  /// The margins of a padding: four of them, or one for some edges. `nil` for an invalid one.
  var insets: Insets? {
    if case .record(let record) = values[.insets] { return Arguments(name, values: record, context: context).edges }
    if values[.length] != nil, number(.length) == nil { return nil }
    let length = number(.length) ?? PaddingNode.standard
    let names = values[.edges]?.string ?? "all"
    func inset(_ edge: String, _ group: String) -> Double {
      ["all", group].contains(names) || names.split(separator: " ").contains { $0 == edge } ? length : 0
    }
    return Insets(
      top: inset("top", "vertical"), leading: inset("leading", "horizontal"), bottom: inset("bottom", "vertical"),
      trailing: inset("trailing", "horizontal"))
  }

  /// One number for each edge.
  var edges: Insets {
    Insets(
      top: number(.top) ?? 0, leading: number(.leading) ?? 0, bottom: number(.bottom) ?? 0,
      trailing: number(.trailing) ?? 0)
  }

  private init(_ name: String, values: ArchivedArguments, context: LayoutContext) {
    (self.name, self.values, self.context) = (name, values, context)
  }
}
