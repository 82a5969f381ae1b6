// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import APNs

/// The laws that hold for any payload of a push, with Foundation's JSON parser as the reference. The tests check the
/// corpus against them, and `scripts/fuzz` a million more inputs.
enum PayloadLaws {
  /// The law that the bytes break, or `nil`. The fuzzer finds traps.
  static func broken(by bytes: [UInt8]) -> String? {
    let scan = PayloadScan(bytes)
    if let law = broken(by: scan, of: bytes) { return law }
    let other = PayloadScan([0x20] + bytes + [0x0A])
    guard (other.flaw == nil) == (scan.flaw == nil),
      other.remark(reloads: true) == scan.remark(reloads: true)
        || scan.flaw != nil
    else { return "blanks around the payload change the result" }
    // Foundation also reads UTF-16, UTF-32 and a byte order mark, of which APNs documents nothing.
    guard !bytes.prefix(4).contains(where: { $0 == 0 || $0 > 0x7F }) else { return nil }
    let object = try? JSONSerialization.jsonObject(with: Data(bytes))
    guard let keys = object as? [String: Any] else { return nil }
    // Foundation on Linux also permits a comma before an end, which JSON does not (RFC 8259).
    if let flaw = scan.flaw, !flaw.hasPrefix("nesting deeper than"), !hasLastComma(bytes) {
      return "a dictionary is refused: \(flaw)"
    }
    return scan.flaw == nil ? broken(by: scan, of: keys) : nil
  }

  /// Whether a comma stands before a bracket, also in a string.
  private static func hasLastComma(_ bytes: [UInt8]) -> Bool {
    var isComma = false
    for byte in bytes where ![0x20, 0x09, 0x0A, 0x0D].contains(byte) {
      if isComma, byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") { return true }
      isComma = byte == UInt8(ascii: ",")
    }
    return false
  }

  private static func broken(by scan: PayloadScan, of bytes: [UInt8]) -> String? {
    if let flaw = scan.flaw {
      guard let text = flaw.split(separator: " ").last, let place = Int(text), (0...bytes.count).contains(place) else {
        return "the flaw has no place in the payload: \(flaw)"
      }
      guard scan.remark(reloads: false)?.contains(flaw) == true else { return "the remark has not the flaw" }
      return nil
    }
    guard String(validating: bytes, as: UTF8.self) != nil else { return "bytes that are not UTF-8 are accepted" }
    // The cut-off text is never complete.
    guard bytes.last != UInt8(ascii: "}") || PayloadScan(Array(bytes.dropLast())).flaw != nil else {
      return "a dictionary without its end is accepted"
    }
    return nil
  }

  /// What Foundation finds. Of two entries with one key it knows only one, so that the scan may find more.
  private static func broken(by scan: PayloadScan, of keys: [String: Any]) -> String? {
    let aps = keys["aps"] as? [String: Any]
    guard scan.hasAPS || aps == nil else { return "the dictionary 'aps' is not found" }
    // The numbers of Foundation that are boolean have the type of a character.
    let number = aps?["content-changed"] as? NSNumber
    let isChanged = number.map { String(cString: $0.objCType) == "c" && $0.boolValue } ?? false
    guard scan.isContentChanged || !isChanged else { return "'content-changed' is not found" }
    guard scan.isContentChangedElsewhere || keys["content-changed"] == nil else {
      return "'content-changed' outside of 'aps' is not found"
    }
    return nil
  }
}
