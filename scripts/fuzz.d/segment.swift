// SPDX-License-Identifier: Apache-2.0

// Fuzzes journal files, which a crash, a full disk or an incomplete copy may have damaged.

/// Checks one input against the invariants.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  if let law = SegmentLaws.broken(by: Array(UnsafeBufferPointer(start: start, count: count))) { fatalError(law) }
  return 0
}
