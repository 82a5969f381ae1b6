// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import URLSessionAPI

@Suite struct `Completions of one wake` {
  @Test func `completions expire once while they are awaited, and never when none is awaited`() throws {
    let fixture = try SDKFixture()
    let completions = Completions("daily", count: 1, in: fixture.process) { _ in }
    let expirations = Mutex(0)
    completions.whenExpired { expirations.withLock { $0 += 1 } }
    completions.expire()
    completions.expire()
    completions.whenExpired { expirations.withLock { $0 += 1 } }
    let count = expirations.withLock { $0 }
    #expect(count == 2)
    completions.called(0)
    let done = Completions("daily", count: 0, in: fixture.process) { _ in }
    done.whenExpired { Issue.record("it expired although no completion is awaited") }
    done.expire()
  }

  @Test func `all completions count as called only when the last call is in the journal`() throws {
    let fixture = try SDKFixture()
    let events = Mutex<[String]>([])
    let made = Mutex<Completions?>(nil)
    let completions = Completions("daily", count: 2, in: fixture.process) { outstanding in
      // Another thread may ask now.
      if outstanding == 0 { made.withLock(\.self)?.whenAllCalled { events.withLock { $0.append("all called") } } }
      events.withLock { $0.append("\(outstanding) outstanding") }
    }
    made.withLock { $0 = completions }
    completions.called(0)
    completions.called(1)
    #expect(events.withLock(\.self) == ["1 outstanding", "0 outstanding", "all called"])
    made.withLock { $0 = nil }
  }
}
