// SPDX-License-Identifier: Apache-2.0

import Synchronization

private let nextSignpost = Atomic<UInt64>(1)

/// The identifier of an interval. Source: `os.OSSignpostID`.
public struct OSSignpostID: Comparable, Hashable, Sendable {
  public let rawValue: UInt64
  public init(_ value: UInt64) { rawValue = value }
  public init(log: OSLog) { self.init(nextSignpost.wrappingAdd(1, ordering: .relaxed).newValue) }
  public init(log: OSLog, object: AnyObject) {
    self.init(UInt64(UInt(bitPattern: ObjectIdentifier(object).hashValue)))
  }
  public static let exclusive = OSSignpostID(0xEEEE_B0B5_B2B2_EEEE)
  public static let invalid = OSSignpostID(UInt64.max)
  public static let null = OSSignpostID(0)
  public static func < (lhs: OSSignpostID, rhs: OSSignpostID) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// Source: `os.OSSignpostType`.
public struct OSSignpostType: Equatable, RawRepresentable, Sendable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  public static let event = OSSignpostType(rawValue: 0)
  public static let begin = OSSignpostType(rawValue: 1)
  public static let end = OSSignpostType(rawValue: 2)

  fileprivate var name: String { self == .begin ? "begin" : self == .end ? "end" : "event" }
}

/// The state of an interval. Source: `os.OSSignpostIntervalState`.
public final class OSSignpostIntervalState: Sendable {
  public let signpostID: OSSignpostID
  init(_ id: OSSignpostID) { signpostID = id }
  public static func beginState(id: OSSignpostID) -> OSSignpostIntervalState { OSSignpostIntervalState(id) }
}

/// Marks intervals. Source: `os.OSSignposter`. Each mark is a line of the log.
public struct OSSignposter: Sendable {
  private let origin: LogLine.Origin

  public init() { origin = LogLine.Origin() }
  public init(subsystem: String, category: String) {
    origin = LogLine.Origin(subsystem: subsystem, category: category)
  }
  public init(subsystem: String, category: OSLog.Category) {
    self.init(subsystem: subsystem, category: category.rawValue)
  }
  public init(logger: Logger) { self.init() }
  public init(logHandle: OSLog) { origin = logHandle.origin }
  public static let disabled = OSSignposter(logHandle: .disabled)

  public var isEnabled: Bool { origin.isEnabled }
  public func makeSignpostID() -> OSSignpostID { OSSignpostID(log: .default) }
  public func makeSignpostID(from object: AnyObject) -> OSSignpostID { OSSignpostID(log: .default, object: object) }

  private func mark(_ type: OSSignpostType, name: StaticString, message: OSLogMessage?) {
    writeSignpost(type, name: name, text: message?.interpolation.text, from: origin)
  }

  public func beginInterval(_ name: StaticString, id: OSSignpostID = .exclusive) -> OSSignpostIntervalState {
    mark(.begin, name: name, message: nil)
    return OSSignpostIntervalState(id)
  }
  public func beginInterval(
    _ name: StaticString, id: OSSignpostID = .exclusive, _ message: OSLogMessage
  ) -> OSSignpostIntervalState {
    mark(.begin, name: name, message: message)
    return OSSignpostIntervalState(id)
  }
  public func endInterval(_ name: StaticString, _ state: OSSignpostIntervalState) {
    mark(.end, name: name, message: nil)
  }
  public func endInterval(_ name: StaticString, _ state: OSSignpostIntervalState, _ message: OSLogMessage) {
    mark(.end, name: name, message: message)
  }
  public func emitEvent(_ name: StaticString, id: OSSignpostID = .exclusive) { mark(.event, name: name, message: nil) }
  public func emitEvent(_ name: StaticString, id: OSSignpostID = .exclusive, _ message: OSLogMessage) {
    mark(.event, name: name, message: message)
  }
  public func withIntervalSignpost<T>(
    _ name: StaticString, id: OSSignpostID = .exclusive, around task: () throws -> T
  ) rethrows -> T {
    mark(.begin, name: name, message: nil)
    defer { mark(.end, name: name, message: nil) }
    return try task()
  }
}

private func writeSignpost(
  _ type: OSSignpostType, name: StaticString, text: String?, from origin: LogLine.Origin
) {
  LogLine.write(text.map { "\(name) \($0)" } ?? "\(name)", "signpost \(type.name)", from: origin)
}

public func os_signpost(
  _ type: OSSignpostType, dso: UnsafeRawPointer? = nil, log: OSLog, name: StaticString,
  signpostID: OSSignpostID = .exclusive
) {
  writeSignpost(type, name: name, text: nil, from: log.origin)
}

public func os_signpost(
  _ type: OSSignpostType, dso: UnsafeRawPointer? = nil, log: OSLog, name: StaticString,
  signpostID: OSSignpostID = .exclusive, _ format: StaticString, _ arguments: Any?...
) {
  writeSignpost(type, name: name, text: LogFormat.text("\(format)", arguments), from: log.origin)
}
