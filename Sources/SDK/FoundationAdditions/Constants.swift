// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
public import Dispatch
// A declaration of this module hides one of Foundation with the same name, because it exports Foundation. An author's
// file gets both with URLSession.
@_exported public import Foundation
// Foundation exports it on Apple's systems.
@_exported public import Observation

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

extension ProcessInfo {
  /// The user's choice: `widgetlab setting low-power-mode`.
  public var isLowPowerModeEnabled: Bool {
    HostedProcess.current.map { DevicePower.of($0).state.isLowPowerModeOn } ?? false
  }

  /// Calls the closure with `false`, on another thread, and keeps the process from being suspended until it returns. When
  /// the time is over, it is called with `true` as well.
  public func performExpiringActivity(withReason reason: String, using block: @escaping @Sendable (Bool) -> Void) {
    guard let process = HostedProcess.current else { return DispatchQueue.global().async { block(false) } }
    let time = BackgroundTime.of(process)
    let number = time.begin(reason, orElse: .suspension) { DispatchQueue.global().async { block(true) } }
    DispatchQueue.global().async {
      process.asCurrent { block(false) }
      time.end(number)
    }
  }

  /// Always `false`: the device is a phone or a tablet.
  public var isiOSAppOnMac: Bool { false }
  /// Always `false`: the device is a phone or a tablet.
  public var isMacCatalystApp: Bool { false }

  /// Source: `Foundation.ProcessInfo.ThermalState`.
  public enum ThermalState: Int, Sendable {
    case nominal, fair, serious, critical
  }

  /// Always nominal, which the diagnosis `not-simulated` names.
  public var thermalState: ThermalState {
    HostedProcess.current?.noticeUnsimulated("thermalState", "the device has no temperature; it is nominal")
    return .nominal
  }
}

extension Notification.Name {
  /// Posted when the user turns Low Power Mode on or off.
  public static let NSProcessInfoPowerStateDidChange = Notification.Name("NSProcessInfoPowerStateDidChangeNotification")
}

extension NSSortDescriptor {
  /// A descriptor that is given to a framework, such as HealthKit. There is no key-value coding without the Objective-C
  /// runtime, so that comparing objects with it ends the process.
  public convenience init(key: String?, ascending: Bool) {
    self.init(keyPath: \NSObject.self, ascending: ascending) { _, _ in
      fatalError("NSSortDescriptor(key:ascending:): there is no key-value coding on WidgetLab: use a key path")
    }
  }
}
