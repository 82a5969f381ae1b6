// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Testing

@testable import APNs

@Suite struct `Push payloads` {
  private static let samples: [(text: String, flaw: String?, remark: String?)] = [
    (#"{"aps":{"content-changed":true}}"#, nil, nil),
    (
      #" { "aps" : { "content-changed" : true , "a" : [ 1 , -2.5e+3 , null , false , "é\n\u00e9" , [] , {} ] } } "#,
      nil, nil
    ),
    (#"{"\u0061ps":{"content\u002Dchanged":true}}"#, nil, nil),
    (#"{"\u0061ps":{"content\u002dchange\u0064x":true}}"#, nil, "no 'content-changed' with the value true"),
    (#"{"aps":{}}"#, nil, "no 'content-changed' with the value true"),
    (#"{"aps":{"content-changed":false}}"#, nil, "no 'content-changed' with the value true"),
    (#"{"aps":{"content-changed":1}}"#, nil, "no 'content-changed' with the value true"),
    (#"{"aps":{"content-changed":"true"}}"#, nil, "no 'content-changed' with the value true"),
    (#"{"content-changed":true,"aps":{}}"#, nil, "put it into 'aps'"),
    (#"{"aps":{"a":{"content-changed":true}}}"#, nil, "put it into 'aps'"),
    (#"{"a":{"aps":{"content-changed":true}}}"#, nil, "no 'aps' dictionary"),
    (#"{}"#, nil, "no 'aps' dictionary"),
    (#"{"aps":[]}"#, nil, "no 'aps' dictionary"),
    (#"{"aps":{"content-changed":true,}}"#, "after a comma", "not JSON"),
    (#"[]"#, "expected a dictionary", "not JSON"),
    (#"hello"#, "expected a dictionary", "not JSON"),
    ("", "expected a dictionary", "not JSON"),
    (#"{"aps":{}"#, "',' or '}'", "not JSON"),
    (#"{"aps":{}} x"#, "data after the end", "not JSON"),
    (#"{"aps" {}}"#, "expected ':'", "not JSON"),
    (#"{aps:{}}"#, "expected a key", "not JSON"),
    (#"{"aps":{"a":tru}}"#, "expected a value", "not JSON"),
    (#"{"aps":{"a":01}}"#, "expected a value", "not JSON"),
    (#"{"aps":{"a":1.}}"#, "without digits", "not JSON"),
    (#"{"aps":{"a":1e}}"#, "without digits", "not JSON"),
    (#"{"aps":{"a":"\x"}}"#, "escape", "not JSON"),
    (#"{"aps":{"a":"\u00g0"}}"#, "\\u", "not JSON"),
    ("{\"aps\":{\"a\":\"\n\"}}", "control character", "not JSON"),
    (#"{"aps":{"a":"#, "expected a value", "not JSON"),
    (#"{"aps"#, "unterminated", "not JSON"),
    (String(repeating: #"{"a":"#, count: 5000), "deeper", "not JSON"),
  ]

  @Test(arguments: samples.indices)
  func `a payload scan reports the JSON flaw and the remark about aps`(index: Int) {
    let (text, flaw, remark) = Self.samples[index]
    let scan = PayloadScan(Array(text.utf8))
    #expect(scan.flaw?.contains(flaw ?? "\u{0}") ?? (flaw == nil), "\(scan.flaw ?? "-")")
    let output = scan.remark(reloads: true)
    #expect(output?.contains(remark ?? "\u{0}") ?? (remark == nil), "\(output ?? "-")")
  }

  @Test(.rule("APNS-04"))
  func `a payload that is not JSON is accepted with a remark because APNs has no reason for it`() throws {
    var lab = ProviderKeyFixture()
    let verdict = lab.check(lab.request(body: "not JSON"))
    #expect(verdict.status == 200)
    #expect(verdict.explanation?.contains("not JSON") == true)
    #expect(lab.check(lab.request()).explanation == nil)
  }

  @Test func `the payload scan accepts the same texts as JSONSerialization`() {
    var generator = Seeded(seed: 4)
    for text in Self.samples.map(\.text).filter({ $0.count < 200 }) {
      for _ in 0..<200 {
        var bytes = Array(text.utf8)
        if !bytes.isEmpty {
          bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 32...126, using: &generator)
        }
        let theirs = (try? JSONSerialization.jsonObject(with: Data(bytes))) is [String: Any]
        let flaw = PayloadScan(bytes).flaw
        // Foundation accepts a comma before a closing brace; JSON does not: RFC 8259.
        if flaw?.contains("after a comma") == true { continue }
        let ours = flaw == nil
        #expect(theirs == ours, "\(String(decoding: bytes, as: UTF8.self))")
      }
    }
  }
}

/// A deterministic generator with a seed.
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
