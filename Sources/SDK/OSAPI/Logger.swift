// SPDX-License-Identifier: Apache-2.0

@_exported public import Foundation

/// Writes lines to the unified log. Source: `os.Logger`. Every level is written, as when Xcode runs the app.
public struct Logger: Sendable {
  private let origin: LogLine.Origin

  public init() { origin = LogLine.Origin() }
  public init(subsystem: String, category: String) {
    origin = LogLine.Origin(subsystem: subsystem, category: category)
  }
  public init(_ logObj: OSLog) { origin = logObj.origin }

  private func write(_ message: OSLogMessage, _ level: String) {
    LogLine.write(message.interpolation.text, level, from: origin)
  }

  public func log(_ message: OSLogMessage) { write(message, OSLogType.default.name) }
  public func log(level: OSLogType, _ message: OSLogMessage) { write(message, level.name) }
  public func trace(_ message: OSLogMessage) { write(message, "trace") }
  public func debug(_ message: OSLogMessage) { write(message, OSLogType.debug.name) }
  public func info(_ message: OSLogMessage) { write(message, OSLogType.info.name) }
  public func notice(_ message: OSLogMessage) { write(message, "notice") }
  public func warning(_ message: OSLogMessage) { write(message, "warning") }
  public func error(_ message: OSLogMessage) { write(message, OSLogType.error.name) }
  public func critical(_ message: OSLogMessage) { write(message, "critical") }
  public func fault(_ message: OSLogMessage) { write(message, OSLogType.fault.name) }
}

// Source of all: the functions of `os` and `os.log`.

@_disfavoredOverload public func os_log(
  _ message: StaticString, dso: UnsafeRawPointer? = nil, log: OSLog = .default, type: OSLogType = .default,
  _ args: Any?...
) {
  LogLine.write(LogFormat.text("\(message)", args), type.name, from: log.origin)
}

@_disfavoredOverload public func os_log(
  _ type: OSLogType, dso: UnsafeRawPointer? = nil, log: OSLog = .default, _ message: StaticString, _ args: Any?...
) {
  LogLine.write(LogFormat.text("\(message)", args), type.name, from: log.origin)
}

public func os_log(_ message: OSLogMessage) {
  LogLine.write(message.interpolation.text, OSLogType.default.name, from: OSLog.default.origin)
}

public func os_log(_ type: OSLogType = .default, log: OSLog = .default, _ message: OSLogMessage) {
  LogLine.write(message.interpolation.text, type.name, from: log.origin)
}

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
