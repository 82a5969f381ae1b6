// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import OpenCombine

/// A time of `RunLoop` and `OperationQueue`. Source: `RunLoop.SchedulerTimeType`.
public struct DateSchedulerTime: Strideable, Codable, Hashable, Sendable {
  public var date: Date
  public init(_ date: Date) { self.date = date }
  public func distance(to other: DateSchedulerTime) -> Stride { Stride(other.date.timeIntervalSince(date)) }
  public func advanced(by n: Stride) -> DateSchedulerTime { DateSchedulerTime(date + n.timeInterval) }

  /// A distance in seconds. Source: `RunLoop.SchedulerTimeType.Stride`.
  public struct Stride: SchedulerTimeIntervalConvertible, Comparable, SignedNumeric, ExpressibleByFloatLiteral, Codable,
    Hashable, Sendable
  {
    public typealias FloatLiteralType = TimeInterval
    public typealias IntegerLiteralType = TimeInterval
    public typealias Magnitude = TimeInterval

    public var timeInterval: TimeInterval
    public var magnitude: TimeInterval { timeInterval }
    public init(_ timeInterval: TimeInterval) { self.timeInterval = timeInterval }
    public init(integerLiteral value: TimeInterval) { self.init(value) }
    public init(floatLiteral value: TimeInterval) { self.init(value) }
    public init?<T: BinaryInteger>(exactly source: T) {
      guard let value = TimeInterval(exactly: source) else { return nil }
      self.init(value)
    }
    public static func < (lhs: Stride, rhs: Stride) -> Bool { lhs.timeInterval < rhs.timeInterval }
    public static func + (lhs: Stride, rhs: Stride) -> Stride { Stride(lhs.timeInterval + rhs.timeInterval) }
    public static func - (lhs: Stride, rhs: Stride) -> Stride { Stride(lhs.timeInterval - rhs.timeInterval) }
    public static func * (lhs: Stride, rhs: Stride) -> Stride { Stride(lhs.timeInterval * rhs.timeInterval) }
    public static func += (lhs: inout Stride, rhs: Stride) { lhs.timeInterval += rhs.timeInterval }
    public static func -= (lhs: inout Stride, rhs: Stride) { lhs.timeInterval -= rhs.timeInterval }
    public static func *= (lhs: inout Stride, rhs: Stride) { lhs.timeInterval *= rhs.timeInterval }
    public static func seconds(_ s: Int) -> Stride { Stride(TimeInterval(s)) }
    public static func seconds(_ s: Double) -> Stride { Stride(s) }
    public static func milliseconds(_ ms: Int) -> Stride { Stride(TimeInterval(ms) / 1e3) }
    public static func microseconds(_ us: Int) -> Stride { Stride(TimeInterval(us) / 1e6) }
    public static func nanoseconds(_ ns: Int) -> Stride { Stride(TimeInterval(ns) / 1e9) }
  }
}

extension RunLoop: @retroactive Scheduler {
  public typealias SchedulerTimeType = DateSchedulerTime

  /// Has no options, as in Combine.
  public struct SchedulerOptions: Sendable {}

  public var now: DateSchedulerTime { DateSchedulerTime(Date()) }
  public var minimumTolerance: DateSchedulerTime.Stride { 0 }

  public func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) {
    // Called once, by this run loop.
    nonisolated(unsafe) let action = action
    perform { action() }
  }
  public func schedule(
    after date: DateSchedulerTime, tolerance: DateSchedulerTime.Stride, options: SchedulerOptions?,
    _ action: @escaping () -> Void
  ) {
    // Called once, by this run loop.
    nonisolated(unsafe) let action = action
    let timer = Timer(fire: date.date, interval: 0, repeats: false) { _ in action() }
    timer.tolerance = tolerance.timeInterval
    add(timer, forMode: .default)
  }
  public func schedule(
    after date: DateSchedulerTime, interval: DateSchedulerTime.Stride, tolerance: DateSchedulerTime.Stride,
    options: SchedulerOptions?, _ action: @escaping () -> Void
  ) -> any Cancellable {
    // Called only by this run loop.
    nonisolated(unsafe) let action = action
    let timer = Timer(fire: date.date, interval: interval.timeInterval, repeats: true) { _ in action() }
    timer.tolerance = tolerance.timeInterval
    add(timer, forMode: .default)
    return AnyCancellable { timer.invalidate() }
  }
}

extension OperationQueue: @retroactive Scheduler {
  public typealias SchedulerTimeType = DateSchedulerTime

  /// Has no options, as in Combine.
  public struct SchedulerOptions: Sendable {}

  public var now: DateSchedulerTime { DateSchedulerTime(Date()) }
  public var minimumTolerance: DateSchedulerTime.Stride { 0 }

  public func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) {
    // Called once, by this queue.
    nonisolated(unsafe) let action = action
    addOperation { action() }
  }
  public func schedule(
    after date: DateSchedulerTime, tolerance: DateSchedulerTime.Stride, options: SchedulerOptions?,
    _ action: @escaping () -> Void
  ) {
    // Called once, by this queue.
    nonisolated(unsafe) let action = action
    DispatchQueue.global().asyncAfter(deadline: .now() + max(0, date.date.timeIntervalSinceNow)) {
      self.addOperation { action() }
    }
  }
  public func schedule(
    after date: DateSchedulerTime, interval: DateSchedulerTime.Stride, tolerance: DateSchedulerTime.Stride,
    options: SchedulerOptions?, _ action: @escaping () -> Void
  ) -> any Cancellable {
    // Called by this queue.
    nonisolated(unsafe) let action = action
    let timer = DispatchSource.makeTimerSource()
    timer.setEventHandler { self.addOperation { action() } }
    timer.schedule(
      deadline: .now() + max(0, date.date.timeIntervalSinceNow), repeating: interval.timeInterval)
    timer.activate()
    return AnyCancellable { timer.cancel() }
  }
}

extension JSONDecoder: @retroactive TopLevelDecoder {}
extension JSONEncoder: @retroactive TopLevelEncoder {}
extension PropertyListDecoder: @retroactive TopLevelDecoder {}
extension PropertyListEncoder: @retroactive TopLevelEncoder {}
