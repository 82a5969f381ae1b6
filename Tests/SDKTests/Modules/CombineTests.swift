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

  @Test func `the latest values of several publishers are combined`() {
    let (first, second) = (PassthroughSubject<Int, Never>(), CurrentValueSubject<String, Never>("a"))
    var seen: [String] = []
    var ends = 0
    let pair = first.combineLatest(second).sink(receiveCompletion: { _ in ends += 1 }) { seen.append("\($0)\($1)") }
    second.send("b")
    first.send(1)
    first.send(2)
    second.send("c")
    #expect(seen == ["1b", "2b", "2c"])
    first.send(completion: .finished)
    #expect(ends == 0)
    second.send("d")
    second.send(completion: .finished)
    #expect(seen.last == "2d" && ends == 1)
    pair.cancel()
    let three = Just(1).combineLatest(Just(2), Just(3)) { $0 + $1 + $2 }
    var sum = 0
    _ = three.sink { sum = $0 }
    #expect(sum == 6)
  }

  @Test func `a combination waits for demand, and ends with an empty publisher, a failure or the subscriber`() {
    struct Broken: Error {}
    final class Slow: Subscriber {
      var subscription: (any Subscription)?
      var seen: [Int] = []
      func receive(subscription: any Subscription) { self.subscription = subscription }
      func receive(_ input: (Int, Int)) -> Subscribers.Demand {
        seen.append(input.0 * 10 + input.1)
        return .none
      }
      func receive(completion: Subscribers.Completion<any Error>) { seen.append(completion.isFailure ? -2 : -1) }
    }
    let (first, second) = (CurrentValueSubject<Int, any Error>(1), CurrentValueSubject<Int, any Error>(2))
    let slow = Slow()
    first.combineLatest(second).subscribe(slow)
    second.send(3)
    #expect(slow.seen == [])
    slow.subscription?.request(.max(1))
    #expect(slow.seen == [13])
    second.send(4)
    slow.subscription?.cancel()
    slow.subscription?.request(.max(1))
    #expect(slow.seen == [13])
    let failing = Slow()
    first.combineLatest(Fail<Int, any Error>(error: Broken())).subscribe(failing)
    let ending = Slow()
    first.combineLatest(Empty<Int, any Error>()).subscribe(ending)
    #expect(failing.seen == [-2] && ending.seen == [-1])
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

extension Subscribers.Completion {
  fileprivate var isFailure: Bool { if case .failure = self { true } else { false } }
}
