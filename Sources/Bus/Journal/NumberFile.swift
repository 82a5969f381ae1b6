// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// Which sequence numbers and generations a broker may have given: a file outside of the journal, so that none is given
/// twice when the end of the journal is lost, such as in a power failure.
///
/// Numbers are reserved in steps, and a reservation is on the disk before its first number is given. The file also has the
/// last number of the journal, so that the next broker sees that records are missing. After such a loss it continues
/// behind the reservation. Integers are little-endian:
///
///     offset size
///          0    4  "WLN1"
///          4    4  the highest reserved generation
///          8    8  the highest reserved sequence number
///         16    8  the last sequence number in the journal
///         24   16  the start of the machine in which the journal is written without waiting for the disk; all zero when
///                  its end is on the disk
final class NumberFile {
  /// How many numbers are reserved at once: one wait for the disk each.
  static let sequenceStep: UInt64 = 100_000
  static let generationStep: UInt32 = 100
  private static let length = 40

  private let path: String
  private let descriptor: Int32
  private var generation: UInt32
  private var sequence: UInt64
  private var last: UInt64
  /// Both halves of the identifier of the start of the machine.
  private var boot: (UInt64, UInt64)

  /// Whether the file was read; it is new, or of an earlier version, otherwise.
  private let isKnown: Bool

  /// Opens or creates the file.
  ///
  /// - Throws: `notReadable`, `notWritable`.
  init(_ path: String) throws(JournalError) {
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw .last(.notWritable, path, "open") }
    var bytes = [UInt8](repeating: 0, count: Self.length)
    let count = pread(file, &bytes, Self.length, 0)
    guard count >= 0 else {
      close(file)
      throw .last(.notReadable, path, "pread")
    }
    self.path = path
    descriptor = file
    // A power failure leaves no damaged file: it is synchronised before a number is given.
    let isKnown = count == Self.length && bytes.starts(with: Array("WLN1".utf8))
    self.isKnown = isKnown
    (generation, sequence, last, boot) = bytes.withUnsafeBytes { bytes in
      func word(_ offset: Int) -> UInt64 {
        isKnown ? UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) : 0
      }
      return (UInt32(truncatingIfNeeded: word(0) >> 32), word(8), word(16), (word(24), word(32)))
    }
  }

  /// Whether the machine was restarted while the journal was written without waiting for the disk: its end may be lost.
  var mayHaveLostEnd: Bool { boot != (0, 0) && boot != Self.boot }

  /// Corrects what was recovered from the journal if its end is missing, and reserves the next numbers.
  ///
  /// - Parameter isSynchronized: whether each record is on the disk before its envelope is forwarded.
  /// - Throws: `notWritable`.
  func begin(correcting recovered: inout JournalRecovery, isSynchronized: Bool) throws(JournalError) {
    if last > recovered.lastSequence || mayHaveLostEnd {
      recovered.lost(sequence: sequence, generation: generation)
      // Until the next segment is in the journal, the loss stays visible.
      last = recovered.lastSequence
    }
    boot = isSynchronized ? (0, 0) : Self.boot
    if generation <= recovered.highestGeneration { generation = recovered.highestGeneration + Self.generationStep }
    if sequence <= recovered.lastSequence { sequence = recovered.lastSequence + Self.sequenceStep }
    try write(synchronized: true)
    if !isKnown { try SegmentFolder.synchronize((path as NSString).deletingLastPathComponent) }
  }

  deinit { close(descriptor) }

  /// Ensures that numbers and generations are reserved, before they are given.
  ///
  /// - Throws: `notWritable`: they may not be given.
  func reserve(sequence wanted: UInt64, generation wantedGeneration: UInt32) throws(JournalError) {
    guard wanted > sequence || wantedGeneration > generation else { return }
    let former = (sequence, generation)
    if wanted > sequence { sequence = wanted + Self.sequenceStep }
    if wantedGeneration > generation { generation = wantedGeneration + Self.generationStep }
    do throws(JournalError) {
      try write(synchronized: true)
    } catch {
      (sequence, generation) = former
      throw error
    }
  }

  /// Notes the last number in the journal. Does not wait for the disk: after the end of the machine the number does not
  /// matter.
  func note(last number: UInt64) {
    last = number
    try? write(synchronized: false)
  }

  /// The end of the journal is on the disk, and nothing more is written.
  func noteEnd() {
    boot = (0, 0)
    try? write(synchronized: true)
  }

  private func write(synchronized: Bool) throws(JournalError) {
    var bytes = Array("WLN1".utf8)
    withUnsafeBytes(of: generation.littleEndian) { bytes.append(contentsOf: $0) }
    for word in [sequence, last, boot.0, boot.1] {
      withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) }
    }
    guard pwrite(descriptor, bytes, bytes.count, 0) == bytes.count else { throw .last(.notWritable, path, "pwrite") }
    guard !synchronized || fdatasync(descriptor) == 0 else { throw .last(.notWritable, path, "fdatasync") }
  }

  /// The identifier of this start of the machine.
  private static let boot: (UInt64, UInt64) = {
    let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
    let id = text.flatMap { UUID(uuidString: $0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    // Where it is not known, each start counts as another one.
    return withUnsafeBytes(of: (id ?? UUID()).uuid) { bytes in
      (
        bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
      )
    }
  }()
}
