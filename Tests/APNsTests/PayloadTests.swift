import Foundation
import Testing

@testable import APNs

@Suite struct `a payload` {
  private static let samples: [(text: String, flaw: String?, remark: String?)] = [
    (#"{"aps":{"content-changed":true}}"#, nil, nil),
    (
      #" { "aps" : { "content-changed" : true , "a" : [ 1 , -2.5e+3 , null , false , "é\n\u00e9" , [] , {} ] } } "#,
      nil, nil
    ),
    (#"{"aps":{}}"#, nil, "no 'content-changed' that is true"),
    (#"{"aps":{"content-changed":false}}"#, nil, "no 'content-changed' that is true"),
    (#"{"aps":{"content-changed":1}}"#, nil, "no 'content-changed' that is true"),
    (#"{"aps":{"content-changed":"true"}}"#, nil, "no 'content-changed' that is true"),
    (#"{"content-changed":true,"aps":{}}"#, nil, "belongs into 'aps'"),
    (#"{"aps":{"a":{"content-changed":true}}}"#, nil, "belongs into 'aps'"),
    (#"{"a":{"aps":{"content-changed":true}}}"#, nil, "no dictionary 'aps'"),
    (#"{}"#, nil, "no dictionary 'aps'"),
    (#"{"aps":[]}"#, nil, "no dictionary 'aps'"),
    (#"{"aps":{"content-changed":true,}}"#, "after a comma", "not JSON"),
    (#"[]"#, "no dictionary begins", "not JSON"),
    (#"hello"#, "no dictionary begins", "not JSON"),
    ("", "no dictionary begins", "not JSON"),
    (#"{"aps":{}"#, "',' or '}'", "not JSON"),
    (#"{"aps":{}} x"#, "more follows", "not JSON"),
    (#"{"aps" {}}"#, "':' is due", "not JSON"),
    (#"{aps:{}}"#, "a key is due", "not JSON"),
    (#"{"aps":{"a":tru}}"#, "a value is due", "not JSON"),
    (#"{"aps":{"a":01}}"#, "a value is due", "not JSON"),
    (#"{"aps":{"a":1.}}"#, "lacks digits", "not JSON"),
    (#"{"aps":{"a":1e}}"#, "lacks digits", "not JSON"),
    (#"{"aps":{"a":"\x"}}"#, "escape", "not JSON"),
    (#"{"aps":{"a":"\u00g0"}}"#, "\\u", "not JSON"),
    ("{\"aps\":{\"a\":\"\n\"}}", "control character", "not JSON"),
    (#"{"aps":{"a":"#, "a value is due", "not JSON"),
    (#"{"aps"#, "no end", "not JSON"),
    (String(repeating: #"{"a":"#, count: 5000), "deeper", "not JSON"),
  ]

  @Test(arguments: samples.indices)
  func `is looked over once`(index: Int) {
    let (text, flaw, remark) = Self.samples[index]
    let scan = PayloadScan(Array(text.utf8))
    #expect(scan.flaw?.contains(flaw ?? "\u{0}") ?? (flaw == nil), "\(scan.flaw ?? "-")")
    let said = scan.remark(isWidget: true)
    #expect(said?.contains(remark ?? "\u{0}") ?? (remark == nil), "\(said ?? "-")")
  }

  @Test func `that is not JSON is accepted with a remark, since no reason exists`() throws {
    var lab = Lab()
    let verdict = lab.check(lab.request(body: "not JSON"))
    #expect(verdict.status == 200)
    #expect(verdict.explanation?.contains("not JSON") == true)
    #expect(lab.check(lab.request()).explanation == nil)
  }

  @Test func `is JSON where Foundation says so`() {
    var generator = Seeded(seed: 4)
    for text in Self.samples.map(\.text).filter({ $0.count < 200 }) {
      for _ in 0..<200 {
        var bytes = Array(text.utf8)
        if !bytes.isEmpty {
          bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 32...126, using: &generator)
        }
        let theirs = (try? JSONSerialization.jsonObject(with: Data(bytes))) is [String: Any]
        let flaw = PayloadScan(bytes).flaw
        // Foundation passes over a comma before a closing brace, and JSON has none: RFC 8259.
        if flaw?.contains("after a comma") == true { continue }
        let ours = flaw == nil
        #expect(theirs == ours, "\(String(decoding: bytes, as: UTF8.self))")
      }
    }
  }
}

/// The same numbers in each run.
struct Seeded: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}
