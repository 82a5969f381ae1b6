// SPDX-License-Identifier: Apache-2.0

extension AsyncSequence where Element == UInt8 {
  /// The lines of UTF-8 text, without line breaks. Empty lines are omitted (observed on Apple's systems).
  public var lines: AsyncLineSequence<Self> { AsyncLineSequence(self) }

  /// The characters of UTF-8 text.
  public var characters: AsyncCharacterSequence<Self> { AsyncCharacterSequence(self) }

  /// The scalars of UTF-8 text.
  public var unicodeScalars: AsyncUnicodeScalarSequence<Self> { AsyncUnicodeScalarSequence(self) }
}

/// The scalars of UTF-8 text; the replacement character for what is not UTF-8. Source:
/// `Foundation.AsyncUnicodeScalarSequence`.
public struct AsyncUnicodeScalarSequence<Base: AsyncSequence>: AsyncSequence where Base.Element == UInt8 {
  public typealias Element = UnicodeScalar

  private let base: Base

  init(_ base: Base) { self.base = base }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base: base.makeAsyncIterator()) }

  public struct AsyncIterator: AsyncIteratorProtocol {
    private var base: Base.AsyncIterator
    /// A byte that belongs to the next scalar.
    private var following: UInt8?

    init(base: Base.AsyncIterator) { self.base = base }

    public mutating func next(isolation actor: isolated (any Actor)?) async throws(Base.Failure) -> UnicodeScalar? {
      guard let first = try await nextByte(actor) else { return nil }
      guard first >= 0x80 else { return UnicodeScalar(first) }
      var bytes = [first]
      while bytes.count < Self.length(first) {
        guard let byte = try await nextByte(actor) else { break }
        guard byte & 0xC0 == 0x80 else {
          following = byte
          break
        }
        bytes.append(byte)
      }
      return String(decoding: bytes, as: UTF8.self).unicodeScalars.first
    }

    private mutating func nextByte(_ actor: isolated (any Actor)?) async throws(Base.Failure) -> UInt8? {
      if let byte = following {
        following = nil
        return byte
      }
      return try await base.next(isolation: actor)
    }

    /// How many bytes a scalar has that begins with this one.
    private static func length(_ first: UInt8) -> Int {
      switch first {
      case 0xC2...0xDF: 2
      case 0xE0...0xEF: 3
      case 0xF0...0xF4: 4
      default: 1
      }
    }
  }
}

/// The characters of UTF-8 text. Source: `Foundation.AsyncCharacterSequence`.
public struct AsyncCharacterSequence<Base: AsyncSequence>: AsyncSequence where Base.Element == UInt8 {
  public typealias Element = Character

  private let base: Base

  init(_ base: Base) { self.base = base }

  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(scalars: AsyncUnicodeScalarSequence(base).makeAsyncIterator())
  }

  public struct AsyncIterator: AsyncIteratorProtocol {
    private var scalars: AsyncUnicodeScalarSequence<Base>.AsyncIterator
    /// What has been read of the next character.
    private var text = ""

    init(scalars: AsyncUnicodeScalarSequence<Base>.AsyncIterator) { self.scalars = scalars }

    public mutating func next(isolation actor: isolated (any Actor)?) async throws(Base.Failure) -> Character? {
      // A character is complete when the next one begins.
      while text.count < 2, let scalar = try await scalars.next(isolation: actor) { text.unicodeScalars.append(scalar) }
      return text.isEmpty ? nil : text.removeFirst()
    }
  }
}

/// The lines of UTF-8 text. Source: `Foundation.AsyncLineSequence`.
public struct AsyncLineSequence<Base: AsyncSequence>: AsyncSequence where Base.Element == UInt8 {
  public typealias Element = String

  private let base: Base

  init(_ base: Base) { self.base = base }

  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(scalars: AsyncUnicodeScalarSequence(base).makeAsyncIterator())
  }

  public struct AsyncIterator: AsyncIteratorProtocol {
    /// Line feed, line tabulation, form feed, carriage return, next line, line separator, paragraph separator.
    private static var breaks: Set<UnicodeScalar> {
      ["\n", "\u{0B}", "\u{0C}", "\r", "\u{85}", "\u{2028}", "\u{2029}"]
    }

    private var scalars: AsyncUnicodeScalarSequence<Base>.AsyncIterator

    init(scalars: AsyncUnicodeScalarSequence<Base>.AsyncIterator) { self.scalars = scalars }

    public mutating func next(isolation actor: isolated (any Actor)?) async throws(Base.Failure) -> String? {
      let breaks = Self.breaks
      var line = String.UnicodeScalarView()
      while let scalar = try await scalars.next(isolation: actor) {
        if !breaks.contains(scalar) { line.append(scalar) } else if !line.isEmpty { return String(line) }
      }
      return line.isEmpty ? nil : String(line)
    }
  }
}
