// SPDX-License-Identifier: Apache-2.0

// Fuzzes SVG documents of authors: the size, and the guides of custom symbols.

/// Checks one input against the invariants.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  if let law = VectorLaws.broken(by: Array(UnsafeBufferPointer(start: start, count: count))) { fatalError(law) }
  return 0
}
