// SPDX-License-Identifier: Apache-2.0

import Foundation
public import OpenCombine

// `combineLatest`, which OpenCombine lacks. Source of all: Combine's documentation of `Publishers.CombineLatest`.

/// The latest value of a publisher; `nil` before the first one.
private final class Slot<Value> {
  var value: Value?
}

/// Sends a combination of the latest values when one of them changes, and the first one when each publisher has sent one.
/// Without demand only the newest combination is kept. Any thread.
private final class Latest<Downstream: Subscriber>: Subscription {
  private let lock = NSRecursiveLock()
  private var downstream: Downstream?
  private let combination: () -> Downstream.Input?
  private var demand = Subscribers.Demand.none
  private var hasNews = false
  /// Publishers that have not finished.
  private var running: Int
  private var upstreams: [AnyCancellable] = []

  /// - Parameter combination: `nil` while a value is missing.
  init(_ downstream: Downstream, count: Int, _ combination: @escaping () -> Downstream.Input?) {
    self.downstream = downstream
    self.combination = combination
    running = count
  }

  func attach<P: Publisher>(_ publisher: P, _ slot: Slot<P.Output>) where P.Failure == Downstream.Failure {
    guard lock.withLock({ downstream != nil }) else { return }
    let upstream = publisher.sink(
      receiveCompletion: { self.complete($0, isEmpty: slot.value == nil) },
      receiveValue: { value in
        self.lock.withLock {
          slot.value = value
          self.hasNews = true
          self.send()
        }
      })
    lock.withLock { if downstream != nil { upstreams.append(upstream) } }
  }

  func request(_ demand: Subscribers.Demand) {
    lock.withLock {
      self.demand += demand
      send()
    }
  }

  func cancel() { lock.withLock { close() } }

  private func send() {
    guard hasNews, demand > 0, let downstream, let value = combination() else { return }
    hasNews = false
    demand -= 1
    let more = downstream.receive(value)
    demand += more
  }

  /// A failure ends all at once, and so does the end of a publisher that has sent nothing.
  private func complete(_ completion: Subscribers.Completion<Downstream.Failure>, isEmpty: Bool) {
    lock.withLock {
      running -= 1
      if case .finished = completion, running > 0, !isEmpty { return }
      guard let downstream else { return }
      close()
      downstream.receive(completion: completion)
    }
  }

  private func close() {
    downstream = nil
    upstreams.removeAll()
  }
}

extension Publishers {
  /// Source: `Combine.Publishers.CombineLatest`.
  public struct CombineLatest<A: Publisher, B: Publisher>: Publisher where A.Failure == B.Failure {
    public typealias Output = (A.Output, B.Output)
    public typealias Failure = A.Failure

    public let a: A
    public let b: B

    public init(_ a: A, _ b: B) {
      (self.a, self.b) = (a, b)
    }

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == A.Failure {
      let slot1 = Slot<A.Output>()
      let slot2 = Slot<B.Output>()
      let latest = Latest(subscriber, count: 2) {
        guard let a = slot1.value, let b = slot2.value else { return nil }
        return (a, b)
      }
      subscriber.receive(subscription: latest)
      latest.attach(a, slot1)
      latest.attach(b, slot2)
    }
  }

  /// Source: `Combine.Publishers.CombineLatest3`.
  public struct CombineLatest3<A: Publisher, B: Publisher, C: Publisher>: Publisher
  where A.Failure == B.Failure, B.Failure == C.Failure {
    public typealias Output = (A.Output, B.Output, C.Output)
    public typealias Failure = A.Failure

    public let a: A
    public let b: B
    public let c: C

    public init(_ a: A, _ b: B, _ c: C) {
      (self.a, self.b, self.c) = (a, b, c)
    }

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == A.Failure {
      let slot1 = Slot<A.Output>()
      let slot2 = Slot<B.Output>()
      let slot3 = Slot<C.Output>()
      let latest = Latest(subscriber, count: 3) {
        guard let a = slot1.value, let b = slot2.value, let c = slot3.value else { return nil }
        return (a, b, c)
      }
      subscriber.receive(subscription: latest)
      latest.attach(a, slot1)
      latest.attach(b, slot2)
      latest.attach(c, slot3)
    }
  }

  /// Source: `Combine.Publishers.CombineLatest4`.
  public struct CombineLatest4<A: Publisher, B: Publisher, C: Publisher, D: Publisher>: Publisher
  where A.Failure == B.Failure, B.Failure == C.Failure, C.Failure == D.Failure {
    public typealias Output = (A.Output, B.Output, C.Output, D.Output)
    public typealias Failure = A.Failure

    public let a: A
    public let b: B
    public let c: C
    public let d: D

    public init(_ a: A, _ b: B, _ c: C, _ d: D) {
      (self.a, self.b, self.c, self.d) = (a, b, c, d)
    }

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == A.Failure {
      let slot1 = Slot<A.Output>()
      let slot2 = Slot<B.Output>()
      let slot3 = Slot<C.Output>()
      let slot4 = Slot<D.Output>()
      let latest = Latest(subscriber, count: 4) {
        guard let a = slot1.value, let b = slot2.value, let c = slot3.value, let d = slot4.value else { return nil }
        return (a, b, c, d)
      }
      subscriber.receive(subscription: latest)
      latest.attach(a, slot1)
      latest.attach(b, slot2)
      latest.attach(c, slot3)
      latest.attach(d, slot4)
    }
  }
}

extension Publisher {
  public func combineLatest<P: Publisher>(_ other: P) -> Publishers.CombineLatest<Self, P> where P.Failure == Failure {
    Publishers.CombineLatest(self, other)
  }
  public func combineLatest<P: Publisher, T>(
    _ other: P, _ transform: @escaping (Output, P.Output) -> T
  ) -> Publishers.Map<Publishers.CombineLatest<Self, P>, T> where P.Failure == Failure {
    Publishers.CombineLatest(self, other).map { transform($0.0, $0.1) }
  }
  public func combineLatest<P: Publisher, Q: Publisher>(
    _ publisher1: P, _ publisher2: Q
  ) -> Publishers.CombineLatest3<Self, P, Q> where P.Failure == Failure, Q.Failure == Failure {
    Publishers.CombineLatest3(self, publisher1, publisher2)
  }
  public func combineLatest<P: Publisher, Q: Publisher, T>(
    _ publisher1: P, _ publisher2: Q, _ transform: @escaping (Output, P.Output, Q.Output) -> T
  ) -> Publishers.Map<Publishers.CombineLatest3<Self, P, Q>, T> where P.Failure == Failure, Q.Failure == Failure {
    Publishers.CombineLatest3(self, publisher1, publisher2).map { transform($0.0, $0.1, $0.2) }
  }
  public func combineLatest<P: Publisher, Q: Publisher, R: Publisher>(
    _ publisher1: P, _ publisher2: Q, _ publisher3: R
  ) -> Publishers.CombineLatest4<Self, P, Q, R>
  where P.Failure == Failure, Q.Failure == Failure, R.Failure == Failure {
    Publishers.CombineLatest4(self, publisher1, publisher2, publisher3)
  }
}
