// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Messages

/// Messages and values with random properties: absent, empty, extreme and ordinary ones.
private struct Samples {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next(below limit: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int(state >> 33) % limit
  }

  mutating func one<Value>(of values: [Value]) -> Value { values[next(below: values.count)] }
  mutating func maybe<Value>(_ value: (inout Samples) -> Value) -> Value? { next(below: 2) == 0 ? nil : value(&self) }
  mutating func list<Value>(_ value: (inout Samples) -> Value) -> [Value] {
    (0..<next(below: 4)).map { _ in value(&self) }
  }

  mutating func bool() -> Bool { next(below: 2) == 0 }
  mutating func text() -> String {
    one(of: [
      "", "figures", "http://a.example/b?c=d&e=%20", "\"quoted\" \\ /slash/", "tab\t line\n return\r \u{8}\u{c}",
      "é ü 日本語 👩‍👩‍👧 \u{2028}\u{2029}", "\u{7f}\u{80}", "{\"a\":[1,2]}", String(repeating: "x", count: 300),
    ])
  }
  /// JSON has no short form of these characters.
  mutating func control() -> String { "a\u{0}b\u{1}\u{1f}" }
  mutating func integer() -> Int64 { one(of: [0, 1, -1, 10_000, 123_456_789, -999_999_999_999_999_999, .max, .min]) }
  mutating func int() -> Int { Int(integer()) }
  mutating func double() -> Double {
    one(of: [
      0, -0.0, 1, 60, 0.1, -2.5, 1.0 / 3, 1e15, 1e16, 123_456_789_012_345_680, 1e21, 1e300, .leastNonzeroMagnitude,
      1_795_837_216.123456,
      .greatestFiniteMagnitude,
    ])
  }
  mutating func float() -> Float { one(of: [0, 0.5, 1, 0.75, 0.1, 1e10, 1e-10, .greatestFiniteMagnitude]) }
  mutating func date() -> Date { Date(timeIntervalSince1970: double()) }
  mutating func data() -> Data { one(of: [Data(), Data([0]), Data((0...255).map { UInt8($0) })]) }
  mutating func id() -> UUID {
    UUID(uuid: (UInt8(next(below: 256)), 0xab, 0, 0xff, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, UInt8(next(below: 256))))
  }
  mutating func address() -> Address {
    one(of: [.host("phone"), .messageBus, .widgetExtension("phone", "com.example.App.Widget"), .operator("7")])
  }
  mutating func headers() -> [[String]] { list { samples in [samples.text(), samples.text()] } }

  mutating func request() -> TransferRequest {
    TransferRequest(
      url: text(), method: text(), headers: headers(), body: maybe { $0.data() },
      timeoutInterval: maybe { $0.double() },
      allowsCellularAccess: bool(), allowsExpensiveNetworkAccess: bool(), allowsConstrainedNetworkAccess: bool(),
      handlesCookies: maybe { $0.bool() })
  }
  mutating func response() -> TransferResponse {
    TransferResponse(url: text(), status: int(), headers: headers(), expectedLength: integer())
  }
  mutating func failure() -> TransferFailure {
    TransferFailure(
      domain: text(), code: int(), message: text(), cancelledReason: maybe { $0.int() },
      networkUnavailableReason: maybe { $0.int() }, resumeData: maybe { $0.data() })
  }
  mutating func snapshot() -> TaskSnapshot {
    TaskSnapshot(
      taskIdentifier: int(), type: one(of: [.download, .upload]), request: request(),
      currentRequest: maybe { $0.request() }, taskDescription: maybe { $0.text() }, isSuspended: bool(),
      priority: float(),
      earliestBeginDate: maybe { $0.date() }, bytesClientExpectsToSend: integer(),
      bytesClientExpectsToReceive: integer(), bytesSent: integer(), bytesExpectedToSend: integer(),
      bytesReceived: integer(), bytesExpected: integer())
  }
  mutating func metrics() -> TransferMetrics {
    TransferMetrics(began: date(), ended: date(), redirectCount: int(), attempts: int())
  }
  mutating func outcome() -> TaskOutcome {
    TaskOutcome(
      task: snapshot(), response: maybe { $0.response() }, file: maybe { $0.text() }, failure: maybe { $0.failure() },
      metrics: maybe { $0.metrics() })
  }
  mutating func numbers() -> TaskNumbers? { TaskNumbers(one(of: [[], [1], [1, 2, 3, 7], [5, 3]])) }

  /// One of each type.
  mutating func all() -> [any DirectJSON] {
    let steps: [TransferProgress.Step] = [.started, .resumed, .restarted, .retrying, .waiting, .finished, .failed]
    return [
      Done(), request(), response(), failure(), snapshot(), metrics(), outcome(),
      CreateTransfer(
        session: text(), taskIdentifier: int(), type: one(of: [.download, .upload]), request: request(),
        taskDescription: maybe { $0.text() }, file: maybe { $0.text() }, resumeData: maybe { $0.data() },
        earliestBeginDate: maybe { $0.date() }, asksBeforeDelayedRequest: bool(), priority: float(),
        bytesClientExpectsToSend: integer(), bytesClientExpectsToReceive: integer()),
      TransferCounted(
        session: text(), taskIdentifier: int(), bytesSent: integer(), bytesExpectedToSend: integer(),
        bytesReceived: integer(), bytesExpected: integer(), resumedAt: maybe { $0.integer() }),
      TransferProgress(
        owner: address(), session: text(), taskIdentifier: int(), step: one(of: steps), bytes: integer(),
        sha256: maybe { $0.text() }, detail: maybe { $0.text() }),
      SessionEvents(
        session: text(), wakesHandler: bool(), finishes: bool(), handlerComesLast: bool(),
        outcomes: list { $0.outcome() }, outcomesFile: maybe { $0.text() }, fileTasks: numbers()),
      OpenSession.Reply(nextTaskIdentifier: int(), tasks: list { $0.snapshot() }, tasksFile: maybe { $0.text() }),
      SessionAcknowledged(owner: address(), session: text(), delivery: id(), tasks: numbers()),
      HandlerCalled(session: text(), pid: 4711, matching: int()),
      DelegateCalled(
        session: text(), method: text(), taskIdentifier: maybe { $0.int() }, bytes: maybe { $0.integer() },
        sha256: maybe { $0.text() }, failureCode: maybe { $0.int() }),
      CompletionCalled(session: text(), outstanding: int()),
      FaultNoticed(one(of: FaultNoticed.Fault.allCases), subject: text(), details: text()),
      Hello(incarnation: id(), pid: .max, store: maybe { $0.id() }, opening: maybe { $0.int() }),
      Hello.Reply(generation: .max),
      RegisterInstance(address: address(), publicKey: text()), RegisterInstance.Reply(generation: 0),
      SpawnProcess.Reply(generation: 1, pid: .min), list { $0.int() }, list { $0.text() }, list { $0.float() },
    ]
  }
}

@Suite struct `Direct JSON` {
  @Test func `is written as JSONEncoder writes it`() throws {
    var samples = Samples(seed: 20_261_128)
    func expectSame(_ value: some DirectJSON) throws {
      let (direct, bytes) = (try #require(written(value)), try encoded(value))
      #expect(direct == bytes, "\(String(decoding: direct, as: UTF8.self)), \(String(decoding: bytes, as: UTF8.self))")
    }
    for _ in 1...200 { for value in samples.all() { try expectSame(value) } }
    #expect(written(samples.control()) == (try encoded(samples.control())))
    #expect(written([Double.nan]) == nil)
    #expect(written([-Float.infinity]) == nil)
  }

  @Test func `is read as JSONDecoder reads it`() throws {
    var samples = Samples(seed: 3)
    func expectSame<Value: DirectJSON>(_ value: Value) throws {
      let bytes = try encoded(value)
      let read = try? JSONReader.value(Value.self, from: bytes)
      // Integers of more than 18 digits, and powers of ten, are left to JSONDecoder.
      if let read { #expect(try encoded(read) == bytes) }
      #expect(try encoded(try BodyCoding.decode(Value.self, from: bytes)) == bytes)
    }
    for _ in 1...200 { for value in samples.all() { try expectSame(value) } }
  }

  @Test func `is usually read without JSONDecoder`() throws {
    let outcome = TaskOutcome(
      task: TaskSnapshot(
        taskIdentifier: 1, request: TransferRequest(url: "http://a.example/1"), taskDescription: "a\n\"b\"",
        bytesReceived: 10_000, bytesExpected: 10_000),
      response: TransferResponse(
        url: "http://a.example/1", status: 200, headers: [["Content-Length", "10000"]], expectedLength: 10_000),
      file: "/tmp/a b", failure: TransferFailure(code: -999, message: "cancelled"),
      metrics: TransferMetrics(
        began: Date(timeIntervalSince1970: 1_795_837_216.25), ended: Date(timeIntervalSince1970: 1_795_837_217),
        redirectCount: 0, attempts: 1))
    let events = SessionEvents(session: "figures", wakesHandler: true, outcomes: [outcome, outcome])
    let bytes = try encoded(events)
    #expect(try encoded(try JSONReader.value(SessionEvents.self, from: bytes)) == bytes)
  }

  @Test(arguments: [
    #" {"bytes":1,"failureCode":-1,"method":"m","session":"s"}"#, #"{"session":"s","method":"m","bytes":1}"#,
    #"{"bytes":1.0,"method":"m","session":"s"}"#, #"{"bytes":1e3,"method":"m","session":"s"}"#,
    #"{"bytes":null,"method":"m","session":"s"}"#, #"{"bytes":-0,"method":"m","session":"s"}"#,
    #"{"bytes":1,"method":"\u006d\ud83d\ude00","new":{"a":[1]},"session":"s"}"#,
    #"{"bytes":9223372036854775807,"method":"m","session":"s"}"#,
  ])
  func `is read by JSONDecoder in other spellings`(json: String) throws {
    let bytes = Array(json.utf8)
    #expect(throws: JSONReader.Unusual.self) { try JSONReader.value(DelegateCalled.self, from: bytes) }
    let expected = try encoded(try decoded(DelegateCalled.self, from: bytes))
    #expect(try encoded(try BodyCoding.decode(DelegateCalled.self, from: bytes)) == expected)
  }

  @Test func `with a mistake is an error of JSONDecoder`() {
    #expect {
      try BodyCoding.decode(CompletionCalled.self, from: Array(#"{"outstanding":"one","session":"s"}"#.utf8))
    } throws: { error in
      let error = error as? BusError
      return error?.code == .malformed && error?.message.contains("CompletionCalled") == true
    }
  }

  /// Flips, removes, inserts and repeats bytes.
  @Test func `that was changed is never read in another way than JSONDecoder reads it`() throws {
    var samples = Samples(seed: 7)
    var accepted = 0
    func check<Value: DirectJSON>(_ value: Value) throws {
      var bytes = try encoded(value)
      let place = samples.next(below: bytes.count)
      switch samples.next(below: 4) {
      case 0: bytes[place] = UInt8(samples.next(below: 256))
      case 1: bytes.remove(at: place)
      case 2: bytes.insert(samples.one(of: Array("\"\\{}[],:0123456789.-+eE tnu".utf8)), at: place)
      default: bytes.insert(contentsOf: bytes[(place / 2)...place], at: place)
      }
      guard let read = try? JSONReader.value(Value.self, from: bytes) else { return }
      accepted += 1
      let text = String(decoding: bytes, as: UTF8.self)
      guard let other = try? decoded(Value.self, from: bytes) else {
        Issue.record("only the direct reader accepts \(text)")
        return
      }
      #expect(try encoded(read) == (try encoded(other)), "\(text)")
    }
    for _ in 1...300 { for value in samples.all() { try check(value) } }
    #expect(accepted > 100)
  }
}
