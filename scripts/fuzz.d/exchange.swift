// SPDX-License-Identifier: Apache-2.0

// Fuzzes a transfer: the request of an author, and what a server sends.

/// Checks one input against the invariants.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  if let law = ExchangeLaws.broken(by: Array(UnsafeBufferPointer(start: start, count: count))) { fatalError(law) }
  return 0
}
