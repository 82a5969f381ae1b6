// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
public import Foundation
public import SwiftUI

// The use of the device (Screen Time) is not recorded here. A report is drawn by another kind of extension, in an app;
// in a widget it shows nothing.

/// What a report is about. Source: `DeviceActivity.DeviceActivityFilter`.
public struct DeviceActivityFilter: Equatable, Hashable, Sendable {
  /// Source: `DeviceActivity.DeviceActivityFilter.SegmentInterval`.
  public enum SegmentInterval: Equatable, Hashable, Sendable {
    case hourly(during: DateInterval = SegmentInterval.today)
    case daily(during: DateInterval = SegmentInterval.today)
    case weekly(during: DateInterval = SegmentInterval.today)

    /// From the begin of the day until now.
    public static var today: DateInterval {
      let now = Date()
      return DateInterval(start: Calendar.current.startOfDay(for: now), end: now)
    }
  }

  public var segmentInterval: SegmentInterval

  public init(segment: SegmentInterval = .daily()) { segmentInterval = segment }
}

/// The place of a report. Source: `DeviceActivity.DeviceActivityReport`. It is empty, and the diagnosis `not-simulated`
/// names it.
public struct DeviceActivityReport: View {
  /// The name by which an extension finds its report. Source: `DeviceActivity.DeviceActivityReport.Context`.
  public struct Context: RawRepresentable, Equatable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(_ rawValue: String) { self.rawValue = rawValue }
  }

  let context: Context
  let filter: DeviceActivityFilter

  nonisolated public init(_ context: Context, filter: DeviceActivityFilter = DeviceActivityFilter()) {
    self.context = context
    self.filter = filter
  }

  public var body: some View {
    let _ = HostedProcess.current?.noticeUnsimulated(
      "DeviceActivityReport", "the use of the device is not recorded: the report is empty")
    EmptyView()
  }
}
