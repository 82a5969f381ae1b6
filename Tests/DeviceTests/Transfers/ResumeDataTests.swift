// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing

@testable import Device
@testable import DeviceRules

@Suite struct ResumeDataTests {
  private let response = TransferResponse(
    url: "http://a/f", status: 200, headers: [["ETag", "\"a\""]], expectedLength: 9)

  private func made(_ part: UUID = UUID(), bytes: Int64 = 5) -> ResumeData? {
    ResumeData(
      part: part, request: TransferRequest(url: "http://a/f"), response: response, validator: "\"a\"", bytes: bytes)
  }

  @Test func `encoded resume data decodes to the same value`() throws {
    let resume = try #require(made())
    #expect(ResumeData(data: try resume.data()) == resume)
  }

  @Test func `truncated, foreign and corrupted data decodes to nothing or to usable resume data`() throws {
    let whole = try #require(try made()?.data())
    for count in 0..<whole.count { #expect(ResumeData(data: whole.prefix(count)) == nil) }
    #expect(ResumeData(data: Data("<?xml version=\"1.0\"?>".utf8)) == nil)
    var random = SystemRandomNumberGenerator()
    for _ in 0..<2000 {
      var bytes = whole
      for _ in 0...Int.random(in: 0..<4, using: &random) {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
      }
      if let read = ResumeData(data: bytes) { #expect(read.bytes > 0) }
    }
  }

  @Test(.rule("TASK-15"))
  func `resume data requires bytes, a validator, a successful response and the GET method`() {
    let request = TransferRequest(url: "http://a/f")
    let part = UUID()
    #expect(made(bytes: 0) == nil)
    #expect(ResumeData(part: part, request: request, response: response, validator: nil, bytes: 5) == nil)
    #expect(ResumeData(part: part, request: request, response: nil, validator: "\"a\"", bytes: 5) == nil)
    let missing = TransferResponse(url: "http://a/f", status: 404, headers: [], expectedLength: 9)
    #expect(ResumeData(part: part, request: request, response: missing, validator: "\"a\"", bytes: 5) == nil)
    let post = TransferRequest(url: "http://a/f", method: "POST")
    #expect(ResumeData(part: part, request: post, response: response, validator: "\"a\"", bytes: 5) == nil)
  }

  @Test(.rule("TASK-16"))
  func `a kept partial file serves one task and is removed when no task uses it in time`() throws {
    let folder = FileManager.default.temporaryDirectory.path + "/parts-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let keptFiles = PartFiles(folder: folder + "/kept")
    let then = Date(timeIntervalSince1970: 1_000_000)
    func keep() throws -> ResumeData {
      try Data([1, 2, 3, 4, 5]).write(to: URL(fileURLWithPath: folder + "/1.part"))
      let resume = try #require(made())
      try keptFiles.keep(folder + "/1.part", as: resume.part, at: then)
      return resume
    }
    let first = try keep()
    #expect(WholeFile.size(folder + "/1.part") == 0)
    #expect(keptFiles.adopt(first, to: folder + "/tasks/2.part"))
    #expect(keptFiles.adopt(first, to: folder + "/tasks/2.part"))
    #expect(!keptFiles.adopt(first, to: folder + "/tasks/3.part"))
    let second = try keep()
    keptFiles.remove(before: then)
    keptFiles.remove(before: then.addingTimeInterval(1))
    #expect(!keptFiles.adopt(second, to: folder + "/tasks/4.part"))
  }
}
