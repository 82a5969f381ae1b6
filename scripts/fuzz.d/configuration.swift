// SPDX-License-Identifier: Apache-2.0

// Fuzzes `widgetlab.yaml`, which an author writes.

/// Checks one input against the invariants.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  if let law = ConfigurationLaws.broken(by: Array(UnsafeBufferPointer(start: start, count: count))) { fatalError(law) }
  return 0
}
