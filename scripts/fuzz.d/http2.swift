// SPDX-License-Identifier: Apache-2.0

// Fuzzes what clients send to the push server: frames, and header blocks in HPACK.

/// Checks one input against the invariants.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  if let law = HTTP2Laws.broken(by: Array(UnsafeBufferPointer(start: start, count: count))) { fatalError(law) }
  return 0
}

@_silgen_name("LLVMFuzzerMutate")
func mutate(_ start: UnsafeMutablePointer<UInt8>?, _ count: Int, _ limit: Int) -> Int

/// Most changes of a length make the rest of the bytes meaningless. Three of four mutations are within one frame, whose
/// length is then corrected: its payload, its type, flags and stream, or the frame is removed or sent again.
@_cdecl("LLVMFuzzerCustomMutator")
public func mutateFrame(_ start: UnsafeMutablePointer<UInt8>?, _ count: Int, _ limit: Int, _ seed: UInt32) -> Int {
  let all = UnsafeMutableRawBufferPointer(start: start, count: limit)
  let frames = frames(in: all, count)
  guard seed % 4 != 0, let frame = frames.isEmpty ? nil : frames[Int(seed / 16) % frames.count] else {
    return mutate(start, count, limit)
  }
  let head = frame.lowerBound + 9
  var own = Array(all[frame])
  switch seed / 4 % 4 {
  case 0:
    // The type, the flags or the stream.
    let place = frame.lowerBound + 3 + Int(seed / 4096) % 6
    _ = start.map { mutate($0 + place, 1, 1) }
    return count
  case 1 where count + own.count <= limit && seed / 4096 % 2 == 0: own += own
  case 1: own = []
  default:
    var payload = [UInt8](repeating: 0, count: min(own.count - 9 + 64, limit - count + own.count - 9))
    for (index, byte) in own.dropFirst(9).enumerated() { payload[index] = byte }
    let length = payload.withUnsafeMutableBufferPointer {
      mutate($0.baseAddress, all[head..<frame.upperBound].count, $0.count)
    }
    own = [UInt8(length >> 16), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF)] + own[3..<9] + payload.prefix(length)
  }
  let result = Array(all[..<frame.lowerBound]) + own + Array(all[frame.upperBound..<count])
  all.copyBytes(from: result)
  return result.count
}

/// The complete frames, behind the options and the preface.
private func frames(in all: UnsafeMutableRawBufferPointer, _ count: Int) -> [Range<Int>] {
  guard count > 0 else { return [] }
  var place = all[0] & 0x80 == 0 ? 1 : 25
  var frames: [Range<Int>] = []
  while place + 9 <= count {
    let end = place + 9 + (Int(all[place]) << 16 | Int(all[place + 1]) << 8 | Int(all[place + 2]))
    guard end <= count else { break }
    frames.append(place..<end)
    place = end
  }
  return frames
}
