// SPDX-License-Identifier: Apache-2.0

// Has one fault for each sanitizer, to check that the sanitizer reports it, and a crash, which no sanitizer reports.

import Foundation

nonisolated(unsafe) var shared = 0

/// Two threads write the same variable without synchronisation.
func race() {
  let threads = (0..<2).map { _ in
    Thread { for _ in 0..<1000 { shared &+= 1 } }
  }
  for thread in threads { thread.start() }
  while threads.contains(where: { !$0.isFinished }) { usleep(1000) }
}

/// Reads freed memory.
func useAfterFree() {
  let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: 16)
  bytes.initialize(repeating: 7, count: 16)
  bytes.deallocate()
  print(bytes[CommandLine.arguments.count])
}

@main struct Fault {
  static func main() {
    switch CommandLine.arguments.last {
    case "thread": race()
    case "address": useAfterFree()
    default: fatalError("a crash")
    }
  }
}
