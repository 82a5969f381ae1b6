// SPDX-License-Identifier: Apache-2.0

public import CoreFoundationAPI
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

// Core Foundation's numbers of text encodings, by which the name of an encoding in an HTTP header becomes a
// `String.Encoding`. Foundation exports Core Foundation on Apple's systems. The functions are those of Foundation's
// library here, which declares them only for C.

/// Source: `CoreFoundation.CFStringEncoding`.
public typealias CFStringEncoding = UInt32
/// Source: `CoreFoundation.kCFStringEncodingInvalidId`.
public let kCFStringEncodingInvalidId: CFStringEncoding = 0xffff_ffff

/// The encodings that `String.Encoding` does not name, of those that web pages use. Source:
/// `CoreFoundation.CFStringEncodings`.
public enum CFStringEncodings: CFIndex, Sendable {
  case isoLatin2 = 0x202
  case isoLatin3 = 0x203
  case isoLatin4 = 0x204
  case isoLatinCyrillic = 0x205
  case isoLatinArabic = 0x206
  case isoLatinGreek = 0x207
  case isoLatinHebrew = 0x208
  case isoLatin5 = 0x209
  case isoLatin9 = 0x20f
  case dosJapanese = 0x420
  case dosChineseSimplif = 0x421
  case dosKorean = 0x422
  case dosChineseTrad = 0x423
  case windowsLatin2 = 0x501
  case windowsCyrillic = 0x502
  case windowsGreek = 0x503
  case windowsLatin5 = 0x504
  case windowsHebrew = 0x505
  case windowsArabic = 0x506
  case windowsBalticRim = 0x507
  case windowsVietnamese = 0x508
  case GB_2312_80 = 0x630
  case GBK_95 = 0x631
  case GB_18030_2000 = 0x632
  case ISO_2022_JP = 0x820
  case EUC_JP = 0x920
  case EUC_CN = 0x930
  case EUC_TW = 0x931
  case EUC_KR = 0x940
  case shiftJIS = 0xa01
  case KOI8_R = 0xa02
  case big5 = 0xa03
}

/// Source: `CoreFoundation.CFIndex`.
public typealias CFIndex = Int

/// The encoding with a name of the IANA, in any case; `kCFStringEncodingInvalidId` if it is unknown. Source:
/// `CoreFoundation.CFStringConvertIANACharSetNameToEncoding`.
public func CFStringConvertIANACharSetNameToEncoding(_ theString: CFString!) -> CFStringEncoding {
  guard let theString else { return kCFStringEncodingInvalidId }
  let name = NSString(string: theString)
  return withExtendedLifetime(name) { encodingOfName(Unmanaged.passUnretained(name).toOpaque()) }
}

/// The raw value of a `String.Encoding`. Source: `CoreFoundation.CFStringConvertEncodingToNSStringEncoding`.
public func CFStringConvertEncodingToNSStringEncoding(_ encoding: CFStringEncoding) -> UInt {
  rawValueOfEncoding(encoding)
}

/// Source: `CoreFoundation.CFStringConvertNSStringEncodingToEncoding`.
public func CFStringConvertNSStringEncodingToEncoding(_ encoding: UInt) -> CFStringEncoding {
  encodingOfRawValue(encoding)
}

// Functions of C with one word as argument and as result: Swift's calling convention is the same.

@_silgen_name("CFStringConvertIANACharSetNameToEncoding")
private func encodingOfName(_ name: UnsafeMutableRawPointer) -> CFStringEncoding

@_silgen_name("CFStringConvertEncodingToNSStringEncoding")
private func rawValueOfEncoding(_ encoding: CFStringEncoding) -> UInt

@_silgen_name("CFStringConvertNSStringEncodingToEncoding")
private func encodingOfRawValue(_ encoding: UInt) -> CFStringEncoding
