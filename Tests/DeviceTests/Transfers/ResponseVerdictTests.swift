// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import NIOHTTP1
import Testing

@testable import Device
@testable import DeviceRules

@Suite struct ResponseVerdictTests {
  private let half = StoredPart(bytes: 5, validator: "\"a\"", expectedLength: 10)

  @Test func `a partial file with a validator is requested from its end`() {
    #expect(half.rangeHeaders.map(\.name) == ["Range", "If-Range"])
    #expect(half.rangeHeaders.map(\.value) == ["bytes=5-", "\"a\""])
  }

  @Test func `a partial file without a validator is requested from the beginning`() {
    let part = StoredPart(bytes: 5, validator: nil, expectedLength: 10)
    #expect(part.rangeHeaders.isEmpty)
    #expect(ResponseVerdict(status: 200, headers: [:], part: part) == .begin(discarding: true))
  }

  @Test(
    .rule("TRANSFER-33"),
    arguments: [
      ("bytes 5-9/10", ResponseVerdict.append), ("bytes 5-9/*", .append), ("BYTES 5-9/10", .append),
      ("bytes 4-9/10", .again), ("bytes 5-9/11", .again), ("bytes */10", .again), ("5-9/10", .again), ("", .again),
    ])
  func `a 206 is appended only when its range is the requested one`(range: String, verdict: ResponseVerdict) {
    #expect(ResponseVerdict(status: 206, headers: ["Content-Range": range], part: half) == verdict)
  }

  @Test(.rule("TRANSFER-33")) func `a 200 or 404 replaces the partial file, and a 416 causes a new request`() {
    #expect(ResponseVerdict(status: 200, headers: [:], part: half) == .begin(discarding: true))
    #expect(ResponseVerdict(status: 404, headers: [:], part: half) == .begin(discarding: true))
    #expect(ResponseVerdict(status: 416, headers: [:], part: half) == .again)
  }

  @Test func `a 416 to a request without a range is the final response`() {
    let nothing = StoredPart(bytes: 0, validator: nil, expectedLength: -1)
    #expect(ResponseVerdict(status: 416, headers: [:], part: nothing) == .begin(discarding: false))
  }

  @Test(.rule("TRANSFER-34")) func `a weak entity tag is not a validator, and Last-Modified is one`() {
    #expect(HTTPHeaders([("ETag", "W/\"a\"")]).validator == nil)
    #expect(HTTPHeaders([("ETag", "W/\"a\""), ("Last-Modified", "yesterday")]).validator == "yesterday")
    #expect(HTTPHeaders([("etag", "\"a\""), ("Last-Modified", "yesterday")]).validator == "\"a\"")
  }
}
