// SPDX-License-Identifier: Apache-2.0

public import Foundation

// Core Foundation's timers and run loops, which are Foundation's: an author passes one as the other on Apple's systems.

/// Source: `CoreFoundation.CFRunLoop`.
public typealias CFRunLoop = RunLoop
/// Source: `CoreFoundation.CFRunLoopTimer`.
public typealias CFRunLoopTimer = Timer
/// Source: `CoreFoundation.CFRunLoopMode`.
public typealias CFRunLoopMode = RunLoop.Mode
/// Source: `CoreFoundation.CFOptionFlags`.
public typealias CFOptionFlags = UInt

extension RunLoop.Mode {
  /// Source: `CoreFoundation.CFRunLoopMode.commonModes`.
  public static let commonModes = RunLoop.Mode.common
  /// Source: `CoreFoundation.CFRunLoopMode.defaultMode`.
  public static let defaultMode = RunLoop.Mode.default
}

/// Source: `CoreFoundation.CFAllocator`. Swift allocates the objects.
public final class CFAllocator: Sendable {}
/// Source: `CoreFoundation.kCFAllocatorDefault`.
public let kCFAllocatorDefault: CFAllocator! = nil

/// A timer that is in no run loop yet. Source: `CoreFoundation.CFRunLoopTimerCreateWithHandler`.
///
/// - Parameters:
///   - fireDate: in seconds since 1 January 2001.
///   - interval: in seconds; the timer fires once with 0.
public func CFRunLoopTimerCreateWithHandler(
  _ allocator: CFAllocator!, _ fireDate: Double, _ interval: TimeInterval, _ flags: CFOptionFlags, _ order: Int,
  _ block: ((CFRunLoopTimer?) -> Void)!
) -> CFRunLoopTimer! {
  // The timer calls it on the thread of the run loop to which the author adds it.
  nonisolated(unsafe) let handler = block
  return Timer(
    fire: Date(timeIntervalSinceReferenceDate: fireDate), interval: interval, repeats: interval > 0
  ) { handler?($0) }
}

/// Source: `CoreFoundation.CFRunLoopGetCurrent`.
public func CFRunLoopGetCurrent() -> CFRunLoop! { .current }
/// Source: `CoreFoundation.CFRunLoopGetMain`.
public func CFRunLoopGetMain() -> CFRunLoop! { .main }

/// Source: `CoreFoundation.CFRunLoopAddTimer`.
public func CFRunLoopAddTimer(_ loop: CFRunLoop!, _ timer: CFRunLoopTimer!, _ mode: CFRunLoopMode!) {
  guard let loop, let timer, let mode else { return }
  loop.add(timer, forMode: mode)
}

/// Source: `CoreFoundation.CFRunLoopTimerInvalidate`.
public func CFRunLoopTimerInvalidate(_ timer: CFRunLoopTimer!) { timer?.invalidate() }
