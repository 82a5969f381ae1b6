// SPDX-License-Identifier: Apache-2.0

import Archive
public import Foundation

extension Text {
  /// Source: `SwiftUI.Text.DateStyle`.
  public struct DateStyle: Equatable, Codable, Sendable, NamedArgument {
    let name: String
    public static let time = DateStyle(name: "time"), date = DateStyle(name: "date"),
      relative = DateStyle(name: "relative"), offset = DateStyle(name: "offset"), timer = DateStyle(name: "timer")
  }

  /// The system updates the text as time passes.
  public init(_ date: Date, style: Text.DateStyle) {
    content = .live(["date": date.archived, "style": style.archived])
  }

  public init(_ dates: ClosedRange<Date>) {
    content = .live(["interval": [dates.lowerBound, dates.upperBound].archived])
  }

  public init(_ interval: DateInterval) { content = .live(["interval": [interval.start, interval.end].archived]) }

  /// A timer that runs within an interval.
  ///
  /// - Parameters:
  ///   - pauseTime: the date at which the timer pauses.
  ///   - countsDown: whether the timer ends at zero.
  ///   - showsHours: whether a time of more than an hour is shown with hours.
  public init(
    timerInterval: ClosedRange<Date>, pauseTime: Date? = nil, countsDown: Bool = true, showsHours: Bool = true
  ) {
    var arguments: [String: ArchivedValue] = [
      "timerInterval": [timerInterval.lowerBound, timerInterval.upperBound].archived,
      "countsDown": countsDown.archived, "showsHours": showsHours.archived,
    ]
    arguments["pauseTime"] = pauseTime?.archived
    content = .live(arguments)
  }
}
