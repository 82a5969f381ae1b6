import Archive
public import Foundation

extension Text {
  /// How a date is shown. Source: `SwiftUI.Text.DateStyle`.
  public struct DateStyle: Equatable, Codable, Sendable, NamedArgument {
    let name: String
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let time = DateStyle(name: "time"), date = DateStyle(name: "date"),
      relative = DateStyle(name: "relative"), offset = DateStyle(name: "offset"), timer = DateStyle(name: "timer")
  }

  /// A date, which the system writes anew as time passes.
  public init(_ date: Date, style: Text.DateStyle) {
    content = .live(["date": date.archived, "style": style.archived])
  }

  /// From a date to another.
  public init(_ dates: ClosedRange<Date>) {
    content = .live(["interval": [dates.lowerBound, dates.upperBound].archived])
  }

  /// From a date to another.
  public init(_ interval: DateInterval) { content = .live(["interval": [interval.start, interval.end].archived]) }

  /// A timer that runs within an interval.
  ///
  /// - Parameters:
  ///   - pauseTime: where it stands still.
  ///   - countsDown: whether it ends at zero.
  ///   - showsHours: whether what is over an hour is shown as such.
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
