// SPDX-License-Identifier: Apache-2.0

import CombineAPI
import Foundation
import OpenCombine
import Testing

/// Combine with what Foundation has for it.
@Suite(.timeLimit(.minutes(1))) struct `Combine of an author` {
  private final class Model: ObservableObject {
    @Published var name = "a"
  }

  @Test func `a published property sends its values, and its object before each change`() {
    let model = Model()
    var values: [String] = []
    var changes = 0
    let first = model.$name.sink { values.append($0) }
    let second = model.objectWillChange.sink { changes += 1 }
    model.name = "b"
    first.cancel()
    model.name = "c"
    second.cancel()
    #expect(values == ["a", "b"])
    #expect(changes == 2)
  }

  @Test func `a notification reaches the subscriber until it cancels`() {
    let name = Notification.Name("CombineTests")
    let center = NotificationCenter()
    var seen: [Int] = []
    let subscription = center.publisher(for: name).compactMap { $0.userInfo?["n"] as? Int }.sink { seen.append($0) }
    center.post(name: name, object: nil, userInfo: ["n": 1])
    center.post(name: Notification.Name("other"), object: nil, userInfo: ["n": 2])
    subscription.cancel()
    center.post(name: name, object: nil, userInfo: ["n": 3])
    #expect(seen == [1])
  }

  @Test func `a timer sends dates to a run loop`() throws {
    var count = 0
    let subscription = Timer.publish(every: 0.001, on: .current, in: .default).autoconnect().sink { _ in count += 1 }
    let limit = Date() + 30
    // A timer does not end the run, so it has an end.
    while count < 3, Date() < limit { _ = RunLoop.current.run(mode: .default, before: Date() + 0.01) }
    subscription.cancel()
    #expect(count >= 3)
  }

  @Test func `values are received on a queue, and decoded from JSON`() async throws {
    struct Answer: Decodable { var degrees: Int }
    var subscription: AnyCancellable?
    let value = await withCheckedContinuation { continuation in
      subscription = Just(Data(#"{"degrees": 21}"#.utf8)).decode(type: Answer.self, decoder: JSONDecoder())
        .receive(on: DispatchQueue.main)
        .sink(receiveCompletion: { _ in }, receiveValue: { continuation.resume(returning: $0.degrees) })
    }
    subscription?.cancel()
    #expect(value == 21)
  }
}
