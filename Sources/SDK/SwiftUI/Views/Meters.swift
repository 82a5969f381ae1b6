// SPDX-License-Identifier: Apache-2.0

package import Archive
public import Foundation

/// Source: `SwiftUI.ProgressView`.
nonisolated public struct ProgressView<Label: View, CurrentValueLabel: View>: View, ArchivedView {
  public typealias Body = Never
  private let arguments: ArchivedArguments
  private let fraction: Double?
  private let label: Label
  private let currentValueLabel: CurrentValueLabel

  private init(
    _ arguments: ArchivedArguments, fraction: Double? = nil, label: Label, currentValueLabel: CurrentValueLabel
  ) {
    self.arguments = arguments
    self.fraction = fraction
    self.label = label
    self.currentValueLabel = currentValueLabel
  }

  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    if let style = context.environment.progressViewStyle {
      let progress = ProgressViewStyleConfiguration(
        fractionCompleted: fraction, label: .init(view: label), currentValueLabel: .init(view: currentValueLabel))
      let view = context.environment.during { style.body(of: progress) }
      return ViewArchive(.control(.progressView), arguments, children: try context.children(of: view))
    }
    var labels = ArchivedLabels(["label", "currentValueLabel"])
    labels.add(try context.children(of: label), "label")
    labels.add(try context.children(of: currentValueLabel), "currentValueLabel")
    let named = arguments.merging([.labels: labels.names])
    return ViewArchive(.control(.progressView), named, children: labels.views)
  }

  private static func part<V: BinaryFloatingPoint>(_ value: V?, of total: V) -> Double? {
    value.map { Double(min(max($0, 0), total) / total) }
  }
}

extension ProgressView where CurrentValueLabel == EmptyView {
  public init(@ViewBuilder label: () -> Label) { self.init([:], label: label(), currentValueLabel: EmptyView()) }
  public init<V: BinaryFloatingPoint>(value: V?, total: V = 1.0, @ViewBuilder label: () -> Label) {
    self.init(value: value, total: total, label: label, currentValueLabel: { EmptyView() })
  }
}

extension ProgressView where Label == EmptyView, CurrentValueLabel == EmptyView {
  public init() { self.init([:], label: EmptyView(), currentValueLabel: EmptyView()) }
  public init<V: BinaryFloatingPoint>(value: V?, total: V = 1.0) {
    self.init(value: value, total: total, label: { EmptyView() }, currentValueLabel: { EmptyView() })
  }
}

extension ProgressView where Label == Text, CurrentValueLabel == EmptyView {
  public init(_ titleKey: LocalizedStringKey) {
    self.init([:], label: Text(titleKey), currentValueLabel: EmptyView())
  }
  @_disfavoredOverload public init<S: StringProtocol>(_ title: S) {
    self.init([:], label: Text(title), currentValueLabel: EmptyView())
  }
  public init<V: BinaryFloatingPoint>(_ titleKey: LocalizedStringKey, value: V?, total: V = 1.0) {
    self.init(value: value, total: total, label: { Text(titleKey) }, currentValueLabel: { EmptyView() })
  }
  @_disfavoredOverload public init<S: StringProtocol, V: BinaryFloatingPoint>(_ title: S, value: V?, total: V = 1.0) {
    self.init(value: value, total: total, label: { Text(title) }, currentValueLabel: { EmptyView() })
  }
}

extension ProgressView {
  public init<V: BinaryFloatingPoint>(
    value: V?, total: V = 1.0, @ViewBuilder label: () -> Label, @ViewBuilder currentValueLabel: () -> CurrentValueLabel
  ) {
    self.init(
      [.value: value.map { .number(Double($0)) }, .total: total == 1 ? nil : .number(Double(total))],
      fraction: Self.part(value, of: total), label: label(), currentValueLabel: currentValueLabel())
  }
  /// The system updates the progress as time passes.
  public init(
    timerInterval: ClosedRange<Date>, countsDown: Bool = true, @ViewBuilder label: () -> Label,
    @ViewBuilder currentValueLabel: () -> CurrentValueLabel
  ) {
    self.init(
      [
        .timerInterval: [timerInterval.lowerBound, timerInterval.upperBound].archived,
        .countsDown: countsDown.archived,
      ], label: label(), currentValueLabel: currentValueLabel())
  }
}

/// The time that is left, or has passed, as a text. Source: `SwiftUI.DefaultDateProgressLabel`.
nonisolated public struct DefaultDateProgressLabel: View, ArchivedView {
  public typealias Body = Never
  let interval: ClosedRange<Date>
  let countsDown: Bool

  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    try context.archive(of: Text(timerInterval: interval, countsDown: countsDown))
  }
}

extension ProgressView where CurrentValueLabel == DefaultDateProgressLabel {
  /// The system updates the progress as time passes.
  public init(timerInterval: ClosedRange<Date>, countsDown: Bool = true, @ViewBuilder label: () -> Label) {
    self.init(
      timerInterval: timerInterval, countsDown: countsDown, label: label,
      currentValueLabel: { DefaultDateProgressLabel(interval: timerInterval, countsDown: countsDown) })
  }
}

extension ProgressView where Label == EmptyView, CurrentValueLabel == DefaultDateProgressLabel {
  /// The system updates the progress as time passes.
  public init(timerInterval: ClosedRange<Date>, countsDown: Bool = true) {
    self.init(timerInterval: timerInterval, countsDown: countsDown, label: { EmptyView() })
  }
}

/// Source: `SwiftUI.Gauge`.
nonisolated public struct Gauge<Label: View, CurrentValueLabel: View, BoundsLabel: View, MarkedValueLabels: View>: View,
  ArchivedView
{
  public typealias Body = Never
  private let value: Double
  private let bounds: ClosedRange<Double>
  private let label: any View
  private let currentValueLabel: (any View)?
  private let boundLabels: [any View]

  private init<V: BinaryFloatingPoint>(
    _ value: V, bounds: ClosedRange<V>, label: any View, currentValueLabel: (any View)?,
    boundLabels: [any View] = []
  ) {
    self.value = Double(value)
    self.bounds = Double(bounds.lowerBound)...Double(bounds.upperBound)
    self.label = label
    self.currentValueLabel = currentValueLabel
    self.boundLabels = boundLabels
  }

  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    var arguments: ArchivedArguments = [
      .value: value.archived, .in: bounds == 0...1 ? nil : [bounds.lowerBound, bounds.upperBound].archived,
    ]
    if let style = context.environment.gaugeStyle {
      let gauge = GaugeStyleConfiguration(
        value: bounds.upperBound > bounds.lowerBound
          ? (value - bounds.lowerBound) / (bounds.upperBound - bounds.lowerBound) : 0, label: .init(view: label),
        currentValueLabel: currentValueLabel.map { .init(view: $0) },
        minimumValueLabel: boundLabels.first.map { .init(view: $0) },
        maximumValueLabel: boundLabels.last.map { .init(view: $0) })
      let view = context.environment.during { style.body(of: gauge) }
      return ViewArchive(.control(.gauge), arguments, children: try context.children(of: view))
    }
    let names = ["label", "currentValueLabel", "minimumValueLabel", "maximumValueLabel"]
    var labels = ArchivedLabels(names)
    let given: [(any View)?] = [label, currentValueLabel, boundLabels.first, boundLabels.last]
    for (name, view) in zip(names, given) {
      if let view { labels.add(try context.children(of: view), name) }
    }
    arguments[.labels] = labels.names
    return ViewArchive(.control(.gauge), arguments, children: labels.views)
  }
}

extension Gauge where CurrentValueLabel == EmptyView, BoundsLabel == EmptyView, MarkedValueLabels == EmptyView {
  public init<V: BinaryFloatingPoint>(value: V, in bounds: ClosedRange<V> = 0...1, @ViewBuilder label: () -> Label) {
    self.init(value, bounds: bounds, label: label(), currentValueLabel: nil)
  }
}

extension Gauge where BoundsLabel == EmptyView, MarkedValueLabels == EmptyView {
  public init<V: BinaryFloatingPoint>(
    value: V, in bounds: ClosedRange<V> = 0...1, @ViewBuilder label: () -> Label,
    @ViewBuilder currentValueLabel: () -> CurrentValueLabel
  ) {
    self.init(value, bounds: bounds, label: label(), currentValueLabel: currentValueLabel())
  }
}

extension Gauge where MarkedValueLabels == EmptyView {
  public init<V: BinaryFloatingPoint>(
    value: V, in bounds: ClosedRange<V> = 0...1, @ViewBuilder label: () -> Label,
    @ViewBuilder currentValueLabel: () -> CurrentValueLabel, @ViewBuilder minimumValueLabel: () -> BoundsLabel,
    @ViewBuilder maximumValueLabel: () -> BoundsLabel
  ) {
    self.init(
      value, bounds: bounds, label: label(), currentValueLabel: currentValueLabel(),
      boundLabels: [minimumValueLabel(), maximumValueLabel()])
  }
}
