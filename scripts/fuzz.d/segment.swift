// What stands in a file of the journal: whatever a crash, a full disk or a copy has left there.

/// Holds one input against the laws.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  if let law = SegmentLaws.broken(by: Array(UnsafeBufferPointer(start: start, count: count))) { fatalError(law) }
  return 0
}
