// SPDX-License-Identifier: Apache-2.0

/// A source of random bytes. Source: `Security.SecRandomRef`.
public final class SecRandom: Sendable {
  private init() {}
}

/// Source: `Security.SecRandomRef`.
public typealias SecRandomRef = SecRandom

/// The random numbers of the operating system. Source: `Security.kSecRandomDefault`.
public let kSecRandomDefault: SecRandomRef? = nil

/// Fills a buffer with random bytes of the operating system. Source: `SecRandomCopyBytes(_:_:_:)`.
///
/// - Parameters:
///   - rnd: `kSecRandomDefault`.
///   - count: the number of bytes.
///   - bytes: a buffer of at least `count` bytes.
/// - Returns: `errSecSuccess`; `errSecParam` for a negative number.
@discardableResult
public func SecRandomCopyBytes(_ rnd: SecRandomRef?, _ count: Int, _ bytes: UnsafeMutableRawPointer) -> Int32 {
  guard count >= 0 else { return errSecParam }
  var generator = SystemRandomNumberGenerator()
  for offset in 0..<count {
    bytes.storeBytes(of: UInt8.random(in: .min ... .max, using: &generator), toByteOffset: offset, as: UInt8.self)
  }
  return errSecSuccess
}
