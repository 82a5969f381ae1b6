// SPDX-License-Identifier: Apache-2.0

// Fuzzes the frames of the bus, which the broker receives from any peer and each peer from the broker.

import Messages

/// Checks one input against the invariants.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  if let law = WireLaws.broken(by: Array(UnsafeBufferPointer(start: start, count: count))) { fatalError(law) }
  return 0
}

@_silgen_name("LLVMFuzzerMutate")
func mutate(_ start: UnsafeMutablePointer<UInt8>?, _ count: Int, _ limit: Int) -> Int

/// Most changes of length make a frame invalid. In three of four mutations the header's body length is corrected, so
/// that the code after the length check is reached.
@_cdecl("LLVMFuzzerCustomMutator")
public func mutateFrame(_ start: UnsafeMutablePointer<UInt8>?, _ count: Int, _ limit: Int, _ seed: UInt32) -> Int {
  let count = mutate(start, count, limit)
  let bytes = UnsafeMutableRawBufferPointer(start: start, count: count)
  guard seed % 4 != 0, count >= Wire.headerLength else { return count }
  func length(_ offset: Int) -> Int { Int(bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self)) }
  let body = count - Wire.headerLength - length(104) - length(106)
  if body >= 0 { bytes.storeBytes(of: UInt32(body), toByteOffset: 108, as: UInt32.self) }
  return count
}
