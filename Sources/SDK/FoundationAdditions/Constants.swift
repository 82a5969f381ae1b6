// SPDX-License-Identifier: Apache-2.0

public import Dispatch
public import Foundation

// What an author's file has on Apple's systems from Darwin, Dispatch and CoreFoundation.

public let NSEC_PER_SEC: UInt64 = 1_000_000_000
public let NSEC_PER_MSEC: UInt64 = 1_000_000
public let NSEC_PER_USEC: UInt64 = 1_000
public let USEC_PER_SEC: UInt64 = 1_000_000
public let MSEC_PER_SEC: UInt64 = 1_000

/// Calls the closure: there is no Objective-C here, so nothing is released later.
public func autoreleasepool<Result, Failure: Error>(
  invoking body: () throws(Failure) -> Result
) throws(Failure) -> Result {
  try body()
}

/// Without an executor for actors. Source: `Dispatch.DispatchSerialQueue`.
public typealias DispatchSerialQueue = DispatchQueue
/// The name of `DispatchSerialQueue` in Objective-C.
public typealias OS_dispatch_queue_serial = DispatchQueue

extension NSObject {
  /// Source: `NSObject.classForCoder()`.
  public class func classForCoder() -> AnyClass { self }
}

public typealias CFAbsoluteTime = TimeInterval

/// Seconds since 1 January 2001, by the device's clock.
public func CFAbsoluteTimeGetCurrent() -> CFAbsoluteTime { Date().timeIntervalSinceReferenceDate }

extension CGFloat {
  public init(truncating number: NSNumber) { self.init(Double(truncating: number)) }
}
