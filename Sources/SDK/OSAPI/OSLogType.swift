// SPDX-License-Identifier: Apache-2.0

@_exported public import Foundation

/// The level of a line. Source: `os.OSLogType`.
public struct OSLogType: Equatable, RawRepresentable, Sendable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  public init(_ rawValue: UInt8) { self.rawValue = rawValue }

  public static let `default` = OSLogType(0)
  public static let info = OSLogType(1)
  public static let debug = OSLogType(2)
  public static let error = OSLogType(16)
  public static let fault = OSLogType(17)

  /// The level's name in a line.
  var name: String {
    switch self {
    case .default: "default"
    case .info: "info"
    case .debug: "debug"
    case .error: "error"
    case .fault: "fault"
    default: "type \(rawValue)"
    }
  }
}

/// A subsystem and a category. Source: `os.OSLog`.
open class OSLog: NSObject {
  /// A predefined category. Source: `os.OSLog.Category`.
  public struct Category: Sendable {
    public let rawValue: String
    public init(_ rawValue: String) { self.rawValue = rawValue }
    public static let pointsOfInterest = Category("PointsOfInterest")
    public static let dynamicTracing = Category("DynamicTracing")
    public static let dynamicStackTracing = Category("DynamicStackTracing")
  }

  let origin: LogLine.Origin

  public convenience init(subsystem: String, category: String) {
    self.init(LogLine.Origin(subsystem: subsystem, category: category))
  }
  public convenience init(subsystem: String, category: Category) {
    self.init(subsystem: subsystem, category: category.rawValue)
  }
  init(_ origin: LogLine.Origin) { self.origin = origin }

  // Objects without changing state.
  nonisolated(unsafe) public static let `default` = OSLog(LogLine.Origin())
  /// Writes nothing. The same as above: without changing state.
  nonisolated(unsafe) public static let disabled = OSLog(LogLine.Origin(isEnabled: false))

  public func isEnabled(type: OSLogType) -> Bool { origin.isEnabled }
  public var signpostsEnabled: Bool { origin.isEnabled }
}
