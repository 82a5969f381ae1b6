// SPDX-License-Identifier: Apache-2.0

// Fuzzes the payloads of pushes, which the push server receives from any client.

/// Checks one input against the invariants.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  if let law = PayloadLaws.broken(by: Array(UnsafeBufferPointer(start: start, count: count))) { fatalError(law) }
  return 0
}
