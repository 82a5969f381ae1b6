// The frames that arrive on the bus: what any peer can send to the broker, and the broker to any peer.

import Conversations

/// Holds one input against the laws.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  if let law = WireLaws.broken(by: Array(UnsafeBufferPointer(start: start, count: count))) { fatalError(law) }
  return 0
}

@_silgen_name("LLVMFuzzerMutate")
func mutate(_ start: UnsafeMutablePointer<UInt8>?, _ count: Int, _ limit: Int) -> Int

/// A change of length makes nearly every frame a wrong one; three times of four the header is told of it, so that what
/// stands behind the check of the lengths is reached.
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
