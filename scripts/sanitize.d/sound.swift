// SPDX-License-Identifier: Apache-2.0

// A correct program that shares data between threads in all ways used by this project: the sanitizers must report
// nothing.

import Dispatch
import Foundation
import Synchronization

actor Counter {
  var count = 0
  func add() { count += 1 }
}

final class Shared: Sendable {
  let numbers = Mutex<[Int]>([])
  let set = Mutex<Set<Int>>([])
}

@main struct Sound {
  static func main() async {
    let shared = Shared()
    let counter = Counter()
    // Enough threads and iterations for the slow path of the lock: some thread waits in the kernel.
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask {
          for turn in 0..<2000 {
            shared.numbers.withLock { $0.append(task &* turn) }
            if turn % 4 == 0 { await counter.add() }
          }
        }
      }
    }
    // A copy is read and released before the original is changed in place.
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask {
          for turn in 0..<2000 {
            if turn % 7 == 0 {
              let copy = shared.set.withLock { $0 }
              for number in copy where number < 0 { print(number) }
            } else if turn % 7 == 1 {
              let copy = shared.set.withLock { $0 }
              if copy.isEmpty { print(turn) }
              // During that time another task changes the original.
              usleep(20)
            }
            shared.set.withLock { set in
              if set.count < 16 { set.insert(task &* turn) } else { set.removeFirst() }
            }
          }
        }
      }
    }
    // Some are resumed before they suspend, and some after.
    var bytes = 0
    for turn in 0..<200 {
      let answer: [UInt8] = await withCheckedContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(returning: [UInt8](repeating: 1, count: turn)) }
        if turn % 2 == 0 { usleep(1000) }
      }
      bytes += answer.reduce(0) { $0 + Int($1) }
    }
    nonisolated(unsafe) var handed = 0
    let queue = DispatchQueue(label: "sound")
    let done = DispatchSemaphore(value: 0)
    for _ in 0..<100 {
      queue.async {
        handed += 1
        done.signal()
      }
    }
    for _ in 0..<100 { done.wait() }
    let thread = Thread {
      handed += 1
      done.signal()
    }
    thread.start()
    done.wait()
    print(shared.numbers.withLock { $0.count }, await counter.count, bytes, handed)
  }
}
