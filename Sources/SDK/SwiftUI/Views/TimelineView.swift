// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The dates of a timeline view. Source: `SwiftUI.TimelineSchedule`.
public protocol TimelineSchedule {
  typealias Mode = TimelineScheduleMode
  associatedtype Entries: Sequence where Entries.Element == Date
  func entries(from startDate: Date, mode: Self.Mode) -> Self.Entries
}

/// Source: `SwiftUI.TimelineScheduleMode`.
public enum TimelineScheduleMode: Hashable, Sendable {
  case normal, lowFrequency
}

/// A view that depends on the date. Source: `SwiftUI.TimelineView`. An archive has its content at one date: the last of
/// the schedule that is not in the future, or else the time of archiving.
nonisolated public struct TimelineView<Schedule: TimelineSchedule, Content: View>: View {
  /// Source: `SwiftUI.TimelineView.Context`.
  public struct Context: Sendable {
    /// Source: `TimelineView.Context.Cadence`.
    public enum Cadence: Comparable, Sendable {
      case live, seconds, minutes
    }
    public let date: Date
    public let cadence: Cadence
  }

  private let schedule: Schedule
  private let content: (TimelineViewDefaultContext) -> Content

  public init(_ schedule: Schedule, @ViewBuilder content: @escaping (TimelineViewDefaultContext) -> Content) {
    self.schedule = schedule
    self.content = content
  }

  @MainActor public var body: some View {
    let now = Date()
    let first = schedule.entries(from: now, mode: .lowFrequency).first { _ in true }
    content(TimelineViewDefaultContext(date: first.map { min($0, now) } ?? now, cadence: .minutes))
  }
}

/// The context of every timeline view. Source: `SwiftUI.TimelineViewDefaultContext`.
public typealias TimelineViewDefaultContext = TimelineView<EveryMinuteTimelineSchedule, Never>.Context

/// Source: `SwiftUI.PeriodicTimelineSchedule`.
public struct PeriodicTimelineSchedule: TimelineSchedule, Sendable {
  private let startDate: Date
  private let interval: TimeInterval
  public init(from startDate: Date, by interval: TimeInterval) {
    self.startDate = startDate
    self.interval = interval
  }
  public func entries(from startDate: Date, mode: TimelineScheduleMode) -> some Sequence<Date> {
    let steps = ((startDate - self.startDate.timeIntervalSinceReferenceDate).timeIntervalSinceReferenceDate / interval)
      .rounded(.down)
    let first = self.startDate + (interval > 0 ? steps * interval : 0)
    return sequence(first: first) { $0 + interval }
  }
}

/// Source: `SwiftUI.EveryMinuteTimelineSchedule`.
public struct EveryMinuteTimelineSchedule: TimelineSchedule, Sendable {
  public init() {}
  public func entries(from startDate: Date, mode: TimelineScheduleMode) -> some Sequence<Date> {
    let minute = (startDate.timeIntervalSinceReferenceDate / 60).rounded(.down) * 60
    return sequence(first: Date(timeIntervalSinceReferenceDate: minute)) { $0 + 60 }
  }
}

/// Source: `SwiftUI.ExplicitTimelineSchedule`.
public struct ExplicitTimelineSchedule<Entries: Sequence>: TimelineSchedule where Entries.Element == Date {
  private let dates: Entries
  public init(_ dates: Entries) { self.dates = dates }
  public func entries(from startDate: Date, mode: TimelineScheduleMode) -> Entries { dates }
}

/// Source: `SwiftUI.AnimationTimelineSchedule`.
public struct AnimationTimelineSchedule: TimelineSchedule, Sendable {
  private let interval: TimeInterval
  public init(minimumInterval: Double? = nil, paused: Bool = false) { interval = minimumInterval ?? 1 / 60 }
  public func entries(from start: Date, mode: TimelineScheduleMode) -> some Sequence<Date> {
    sequence(first: start) { $0 + interval }
  }
}

extension TimelineSchedule where Self == PeriodicTimelineSchedule {
  public static func periodic(from startDate: Date, by interval: TimeInterval) -> PeriodicTimelineSchedule {
    PeriodicTimelineSchedule(from: startDate, by: interval)
  }
}

extension TimelineSchedule where Self == EveryMinuteTimelineSchedule {
  public static var everyMinute: EveryMinuteTimelineSchedule { EveryMinuteTimelineSchedule() }
}

extension TimelineSchedule where Self == AnimationTimelineSchedule {
  public static var animation: AnimationTimelineSchedule { AnimationTimelineSchedule() }
  public static func animation(minimumInterval: Double? = nil, paused: Bool = false) -> AnimationTimelineSchedule {
    AnimationTimelineSchedule(minimumInterval: minimumInterval, paused: paused)
  }
}

extension TimelineSchedule {
  public static func explicit<S: Sequence>(_ dates: S) -> ExplicitTimelineSchedule<S>
  where Self == ExplicitTimelineSchedule<S>, S.Element == Date {
    ExplicitTimelineSchedule(dates)
  }
}
