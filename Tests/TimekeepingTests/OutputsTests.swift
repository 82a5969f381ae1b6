// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import Timekeeping

@Suite(.timeLimit(.minutes(1))) struct OutputsTests {
  private let clock = AdjustableClock(.held(Date(timeIntervalSince1970: 1_000_000_000)))

  @DeviceActor private final class Log {
    var lines: [String] = []
  }

  @Test @DeviceActor func `outputs are received after the call that adds them, in the order of all outputs`() {
    let (numbers, letters, log) = (Outputs<Int>(clock), Outputs<String>(clock), Log())
    numbers.receive { log.lines.append("\($0)") }
    letters.receive { letter in
      log.lines.append(letter)
      // What follows from an output comes after all that was added before.
      if letter == "a" { numbers.yield(3) }
      DeviceActor.settle()
      log.lines.append("end of \(letter)")
    }
    letters.yield("a")
    numbers.yield(1)
    letters.yield("b")
    log.lines.append("end of the call")
    DeviceActor.settle()
    #expect(log.lines == ["end of the call", "a", "end of a", "1", "b", "end of b", "3"])
  }

  @Test @DeviceActor func `outputs are received without a call of settle`() async {
    let outputs = Outputs<Int>(clock)
    let (received, continuation) = AsyncStream.makeStream(of: Int.self)
    outputs.receive { continuation.yield($0) }
    outputs.yield(1)
    var iterator = received.makeAsyncIterator()
    #expect(await iterator.next(isolation: #isolation) == 1)
  }
}
