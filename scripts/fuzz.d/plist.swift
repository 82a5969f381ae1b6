// SPDX-License-Identifier: Apache-2.0

// Fuzzes an `Info.plist`, which an author or another tool writes.

/// Checks one input against the invariants.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  if let law = PropertyListLaws.broken(by: Array(UnsafeBufferPointer(start: start, count: count))) { fatalError(law) }
  return 0
}
