// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Messages

/// Values with all optional properties, with none of them, and with some.
private struct Values {
  enum Optionals { case none, all, some }

  var state: UInt64
  var optionals = Optionals.some

  mutating func next(below bound: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int((state >> 33) % UInt64(bound))
  }

  mutating func one<Value>(of values: [Value]) -> Value { values[next(below: values.count)] }

  mutating func optional<Value>(_ value: (inout Values) -> Value) -> Value? {
    switch optionals {
    case .none: nil
    case .all: value(&self)
    case .some: next(below: 2) == 0 ? nil : value(&self)
    }
  }

  mutating func bits() -> UInt64 {
    UInt64(next(below: 1 << 31)) << 33 ^ UInt64(next(below: 1 << 31)) << 11 ^ state >> 40
  }

  mutating func string() -> String {
    one(of: [
      "", "a", "https://example.com/a?b=c&d#e", "\"quoted\" \\ / \u{8}\u{c}\n\r\t", "ü €", "👩‍👩‍👧 🎈", "e\u{301}",
      "\u{2028}\u{2029}\u{7f}\u{85}\u{feff}\u{ffff}", String(repeating: "long ", count: 100), "{\"a\":[1]}", "null",
    ])
  }

  mutating func int<Number: FixedWidthInteger>() -> Number {
    one(
      of: [0, 1, 7, 100, .max / 2, Number(truncatingIfNeeded: bits() >> 8)] + (Number.isSigned ? [Number(0) &- 1] : []))
  }

  mutating func double() -> Double {
    one(of: [
      0, -0.0, 1, -1, 0.1, 1e15, 1e16, 123_456_789.125, 1.7e-300, .leastNonzeroMagnitude, .greatestFiniteMagnitude,
      1_764_300_000.123456, Double(bits() >> 11) / 1e6,
    ])
  }

  mutating func float() -> Float { one(of: [0, 0.5, 1, 0.1, -3.25, .greatestFiniteMagnitude, .leastNonzeroMagnitude]) }
  mutating func date() -> Date { Date(timeIntervalSince1970: one(of: [0, 0.5, -1, 1_764_300_000.123456, 4e9])) }
  mutating func data() -> Data { Data((0..<next(below: 9)).map { _ in UInt8(next(below: 256)) }) }
  mutating func flag() -> Bool { next(below: 2) == 0 }
  mutating func uuid() -> UUID { UUID(uuidString: "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6") ?? UUID() }
  mutating func address() -> Address { one(of: [.host("phone"), .app("phone", "com.example.App"), .messageBus]) }
  mutating func numbers() -> TaskNumbers? { optional { TaskNumbers([1, 2, 3, 7, $0.next(below: 99)]) } ?? nil }
  mutating func headers() -> [[String]] { (0..<next(below: 3)).map { _ in [string(), string()] } }

  mutating func request() -> TransferRequest {
    TransferRequest(
      url: string(), method: string(), headers: headers(), body: optional { $0.data() },
      timeoutInterval: optional { $0.double() }, allowsCellularAccess: flag(), allowsExpensiveNetworkAccess: flag(),
      allowsConstrainedNetworkAccess: flag(), handlesCookies: optional { $0.flag() })
  }

  mutating func snapshot() -> TaskSnapshot {
    TaskSnapshot(
      taskIdentifier: int(), type: one(of: [.download, .upload]), request: request(),
      currentRequest: optional { $0.request() }, taskDescription: optional { $0.string() }, isSuspended: flag(),
      priority: float(), earliestBeginDate: optional { $0.date() }, bytesClientExpectsToSend: int(),
      bytesClientExpectsToReceive: int(), bytesSent: int(), bytesExpectedToSend: int(), bytesReceived: int(),
      bytesExpected: int())
  }

  mutating func response() -> TransferResponse {
    TransferResponse(url: string(), status: int(), headers: headers(), expectedLength: int())
  }

  mutating func failure() -> TransferFailure {
    TransferFailure(
      code: int(), message: string(), cancelledReason: optional { $0.int() },
      networkUnavailableReason: optional { $0.int() }, resumeData: optional { $0.data() })
  }

  mutating func metrics() -> TransferMetrics {
    TransferMetrics(began: date(), ended: date(), redirectCount: int(), attempts: int())
  }

  mutating func outcome() -> TaskOutcome {
    TaskOutcome(
      task: snapshot(), response: optional { $0.response() }, file: optional { $0.string() },
      failure: optional { $0.failure() }, metrics: optional { $0.metrics() })
  }

  /// One value of each direct type.
  mutating func all() -> [any DirectJSON] {
    let session = string()
    let transfers: [any DirectJSON] = [
      request(), snapshot(), response(), failure(), metrics(), outcome(),
      CreateTransfer(
        session: session, taskIdentifier: int(), type: one(of: [.download, .upload]), request: request(),
        taskDescription: optional { $0.string() }, file: optional { $0.string() }, resumeData: optional { $0.data() },
        earliestBeginDate: optional { $0.date() }, asksBeforeDelayedRequest: flag(), priority: float(),
        bytesClientExpectsToSend: int(), bytesClientExpectsToReceive: int()),
      TransferCounted(
        session: session, taskIdentifier: int(), bytesSent: int(), bytesExpectedToSend: int(), bytesReceived: int(),
        bytesExpected: int(), resumedAt: optional { $0.int() }),
      TransferProgress(
        owner: address(), session: session, taskIdentifier: int(), step: one(of: [.started, .waiting, .finished]),
        bytes: int(), sha256: optional { $0.string() }, detail: optional { $0.string() }),
    ]
    let sessions: [any DirectJSON] = [
      SessionEvents(
        session: session, wakesHandler: flag(), finishes: flag(), handlerComesLast: flag(),
        outcomes: (0..<next(below: 3)).map { _ in outcome() }, outcomesFile: optional { $0.string() },
        fileTasks: numbers()),
      SessionAcknowledged(owner: address(), session: session, delivery: uuid(), tasks: numbers()),
      HandlerCalled(session: session, pid: int(), matching: int()),
      DelegateCalled(
        session: session, method: string(), taskIdentifier: optional { $0.int() }, bytes: optional { $0.int() },
        sha256: optional { $0.string() }, failureCode: optional { $0.int() }),
      CompletionCalled(session: session, outstanding: int()),
      FaultNoticed(one(of: FaultNoticed.Fault.allCases), subject: string(), details: string()),
    ]
    let others: [any DirectJSON] = [
      Done(), Hello(incarnation: uuid(), pid: int(), store: optional { $0.uuid() }, opening: optional { $0.int() }),
      Hello.Reply(generation: int()),
      RegisterInstance(address: address(), publicKey: string()), RegisterInstance.Reply(generation: int()),
      SpawnProcess.Reply(generation: int(), pid: int()), [next(below: 99), 2], [String](), string(), data(), flag(),
    ]
    return transfers + sessions + others
  }

  static func many(_ count: Int) -> [any DirectJSON] {
    var values = Values(state: 4711)
    return (0..<count).flatMap { round in
      values.optionals = round % 4 == 0 ? .none : round % 4 == 1 ? .all : .some
      return values.all()
    }
  }
}

/// Rewrites JSON with its keys in reverse order, spaces, and unknown keys.
private struct Rewriter {
  let bytes: [UInt8]
  let addsKeys: Bool
  var place = 0

  mutating func value() -> String {
    switch bytes[place] {
    case UInt8(ascii: "{"):
      var members = list { "\($0.value()) : \($0.afterColon())" }
      if addsKeys { members.append("\"unknown\" : {\"a\": [1, {\"b\": null}], \"c\": \"\\u00e4\"}") }
      return "{ \(members.reversed().joined(separator: ",\n")) }"
    case UInt8(ascii: "["): return "[ \(list { $0.value() }.joined(separator: " , ")) ]"
    case UInt8(ascii: "\""):
      let start = place
      place += 1
      while bytes[place] != UInt8(ascii: "\"") { place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1 }
      place += 1
      return String(decoding: bytes[start..<place], as: UTF8.self)
    default:
      let rest = bytes[place...].prefix { !",]}".utf8.contains($0) }
      place = rest.endIndex
      return String(decoding: rest, as: UTF8.self)
    }
  }

  private mutating func afterColon() -> String {
    place += 1
    return value()
  }

  private mutating func list(_ element: (inout Rewriter) -> String) -> [String] {
    var elements: [String] = []
    place += 1
    while !"]}".utf8.contains(bytes[place]) {
      if bytes[place] == UInt8(ascii: ",") { place += 1 }
      elements.append(element(&self))
    }
    place += 1
    return elements
  }
}

@Suite struct `Generated bodies without Foundation's coder` {
  @Test func `the written bytes are those of JSONEncoder, and are read as the same value`() throws {
    func check<Value: DirectJSON>(_ value: Value) throws {
      let bytes = try encoded(value)
      #expect(written(value) == bytes, "\(value)")
      #expect(try BodyCoding.encode(value) == bytes)
      #expect(try Array(BodyCoding.data(value)) == bytes)
      #expect(try encoded(BodyCoding.decode(Value.self, from: bytes)) == bytes)
      // Long integers and `\u` are left to JSONDecoder.
      let read = try? JSONReader.value(Value.self, from: bytes)
      #expect(try read.map { try encoded($0) } ?? bytes == bytes, "\(value)")
    }
    for value in Values.many(60) { try check(value) }
  }

  @Test func `usual bodies are read without JSONDecoder`() throws {
    let request = TransferRequest(
      url: "https://a.example/ü", headers: [["A", "\"b\"\n"]], body: Data([1]), timeoutInterval: 2.5)
    let task = TaskSnapshot(
      taskIdentifier: 1, request: request, taskDescription: "a", earliestBeginDate: Date(timeIntervalSince1970: 0.25),
      bytesReceived: 10, bytesExpected: -1)
    let metrics = TransferMetrics(began: Date(), ended: Date(), redirectCount: 0, attempts: 1)
    let outcome = TaskOutcome(
      task: task, response: nil, file: "f", failure: TransferFailure(code: -999, message: "m"), metrics: metrics)
    let events = SessionEvents(session: "s", wakesHandler: true, outcomes: [outcome], fileTasks: TaskNumbers([1, 2]))
    let read = try JSONReader.value(SessionEvents.self, from: encoded(events))
    #expect(read.outcomes.first?.task == task)
    let create = CreateTransfer(session: "s", taskIdentifier: 1, request: request, taskDescription: nil)
    #expect(try JSONReader.value(CreateTransfer.self, from: encoded(create)).request == request)
    _ = try JSONReader.value(Done.self, from: encoded(Done()))
    _ = try JSONReader.value(
      TransferProgress.self,
      from: encoded(
        TransferProgress(owner: .host("a"), session: "s", taskIdentifier: 1, step: .started, bytes: 0, detail: "d")))
  }

  @Test(arguments: [false, true])
  func `other spellings of a body are read as JSONDecoder reads them`(addsKeys: Bool) throws {
    func check<Value: DirectJSON>(_ value: Value) throws {
      let bytes = try encoded(value)
      var rewriter = Rewriter(bytes: bytes, addsKeys: addsKeys)
      #expect(try encoded(BodyCoding.decode(Value.self, from: Array(rewriter.value().utf8))) == bytes, "\(value)")
    }
    for value in Values.many(8) { try check(value) }
  }

  @Test func `numbers are spelled as JSONEncoder spells them, and are read as the same numbers`() throws {
    func check<Number: DirectJSON & FloatingPoint>(_ number: Number) throws {
      guard number.isFinite else { return }
      let bytes = try encoded([number])
      #expect(written([number]) == bytes)
      let read = try JSONReader.value([Number].self, from: bytes)
      #expect(try read == [number] && read == decoded([Number].self, from: bytes))
    }
    var values = Values(state: 1)
    for _ in 0..<1500 {
      try check(Double(bitPattern: values.bits()))
      try check(Float(bitPattern: UInt32(truncatingIfNeeded: values.bits() >> 17)))
      try check(Float(values.next(below: 1 << 24)) / 1000)
    }
    for integer in [Int64.min, .max, -1, 0, 999_999_999_999_999_999, 1_000_000_000_000_000_000] {
      #expect(try written(integer) == encoded(integer))
      #expect(try BodyCoding.decode(Int64.self, from: encoded(integer)) == integer)
    }
  }

  @Test func `each character is escaped as JSONEncoder escapes it`() throws {
    for code in UInt32(0)...0x2fff {
      guard let scalar = Unicode.Scalar(code) else { continue }
      let text = "a\(Character(scalar))b"
      guard code < 0x100 || code % 16 == 8 else { continue }
      #expect(try written(text) == encoded(text))
      #expect(try BodyCoding.decode(String.self, from: encoded(text)).utf8.elementsEqual(text.utf8))
    }
  }

  @Test func `what is read of damaged bodies is what JSONDecoder reads`() throws {
    var random = Values(state: 99)
    let alphabet = Array("\"\\{}[],:.-+eE0159 tfnu/\u{0}\n".utf8) + [0x80, 0xc3, 0xff]
    var accepted = 0
    func check<Value: DirectJSON>(_ value: Value) throws {
      let bytes = try encoded(value)
      for _ in 0..<40 {
        var damaged = bytes
        for _ in 0...random.next(below: 2) where !damaged.isEmpty {
          let index = random.next(below: damaged.count)
          switch random.next(below: 4) {
          case 0: damaged[index] ^= 1 << UInt8(random.next(below: 8))
          case 1: damaged.remove(at: index)
          case 2: damaged.insert(random.one(of: alphabet), at: index)
          default: damaged[index] = random.one(of: alphabet)
          }
        }
        guard let read = try? JSONReader.value(Value.self, from: damaged) else { continue }
        accepted += 1
        let text = String(decoding: damaged, as: UTF8.self)
        let expected = try? encoded(decoded(Value.self, from: damaged))
        #expect(try encoded(read) == expected, "\(text)")
      }
    }
    for value in Values.many(8) { try check(value) }
    #expect(accepted > 100)
  }

  @Test(arguments: ["01", "-0", "-", "1.0", "1.", "1e1", "+1", "1 ", "", "9223372036854775808", "null"])
  func `unusual integers are left to JSONDecoder`(text: String) {
    #expect(throws: JSONReader.Unusual.self) { try JSONReader.value(Int.self, from: Array(text.utf8)) }
    #expect(throws: JSONReader.Unusual.self) { try JSONReader.value([Int].self, from: Array("[\(text),]".utf8)) }
  }

  @Test func `what cannot be encoded or decoded fails with Foundation's error, and a long body with its length`() {
    let direct = #expect(throws: BusError.self) { try BodyCoding.encode([Double.nan]) }
    #expect(
      direct?.code == .malformed && direct?.message.hasPrefix("Array<Double> cannot be encoded as JSON: ") == true)
    let long = #expect(throws: BusError.self) { try BodyCoding.encode(String(repeating: "a", count: Wire.bodyLimit)) }
    #expect(long?.code == .tooLarge)
    let refused = #expect(throws: BusError.self) { try BodyCoding.decode(Hello.self, from: Array("{}".utf8)) }
    #expect(refused?.message.contains("incarnation") == true)
  }

  /// Its two codings differ, so that a test sees which one is used.
  private struct Marked: Request, DirectJSON {
    static let kind: Kind = "test.marked"
    typealias Reply = Marked
    var number = 1
    init() {}
    func write(to json: inout JSONWriter) { json.write(string: "direct") }
    init(reading json: inout JSONReader) throws(JSONReader.Unusual) {
      _ = try json.string()
      number = 2
    }
  }

  @Test func `generic code encodes and decodes a direct message and reply directly`() throws {
    func check<R: Request>(_ request: R, _ reply: R.Reply) throws {
      let bytes = Array("\"direct\"".utf8)
      #expect(try request.encodedBody() == bytes)
      #expect(try R.encoded(reply) == bytes)
      #expect(try (R.decoded(from: bytes) as? Marked)?.number == 2)
      #expect(try (R.decodedReply(from: bytes) as? Marked)?.number == 2)
    }
    try check(Marked(), Marked())
  }
}
