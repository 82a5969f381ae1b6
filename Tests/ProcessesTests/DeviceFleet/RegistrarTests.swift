// SPDX-License-Identifier: Apache-2.0

import Cluster
import FidelityRules
import Foundation
import Messages
import Testing

@testable import DeviceFleet

@Suite struct `The registration of tokens` {
  private static let entry = Registrar.Entry(
    device: "load:7", index: 7, use: .fleet(.voip), bundle: "com.example.app", token: "ab01")

  private static func plan(_ yaml: String) throws -> FleetPlan {
    FleetPlan(name: "load", seed: 1, devices: 10, profile: try FleetProfile(yaml: yaml))
  }

  @Test func `placeholders are replaced, and other braces stay`() throws {
    let registrar = try Registrar(try Self.plan(""))
    let text = registrar.fill(
      #"{"d":"{device}","n":{index},"x":{},"u":"{use}","t":"{topic}","k":"{token}"} {fleet} {environment}"#, Self.entry)
    #expect(
      text
        == #"{"d":"load:7","n":7,"x":{},"u":"voip","t":"com.example.app.voip","k":"ab01"} load development"#)
    #expect(registrar.fill("{", Self.entry) == "{")
    #expect(registrar.fill("a}{b", Self.entry) == "a}{b")
  }

  @Test(.timeLimit(.minutes(1))) func `a file gets a line for each token`() async throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "tokens-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let registrar = try Registrar(try Self.plan("registration: {file: \(path), body: '{token} {use}'}"))
    #expect(await registrar.register([Self.entry, Self.entry]) == .done)
    await registrar.close()
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "ab01 voip\nab01 voip\n")
  }

  @Test(.timeLimit(.minutes(1))) func `a backend that is away is asked again later`() async throws {
    let registrar = try Registrar(
      try Self.plan("registration: {url: 'http://127.0.0.1:1/{token}', timeout: 1}"))
    let result = await registrar.register([Self.entry])
    let isAgain = if case .again = result { true } else { false }
    #expect(isAgain, "\(result)")
    await registrar.close()
  }

  @Test(
    .timeLimit(.minutes(1)),
    arguments: [
      "url: 'http://127.0.0.1:99999/'", "url: 'http://127.0.0.1:99999999999999999999/'",
      "url: 'http://127.0.0.1:1/', headers: {Größe: '1'}", "url: 'http://127.0.0.1:1/', headers: {a: \"1\\n2\"}",
    ])
  func `a request that cannot be sent is not repeated`(registration: String) async throws {
    let registrar = try Registrar(try Self.plan("registration: {\(registration)}"))
    let result = await registrar.register([Self.entry])
    let isRefused = if case .refused = result { true } else { false }
    #expect(isRefused, "\(result)")
    await registrar.close()
  }

  @Test(
    arguments: [
      ("registration: {}", "file or url"), ("registration: {file: a, url: 'http://a/'}", "either file or url"),
      ("registration: {url: 'ftp://a/'}", "not an http or https URL"), ("registration: {url: a}", "not an http"),
      ("registration: {url: 'http://a/{tokken}'}", "{tokken} is not a placeholder"),
      ("registration: {file: a, body: '{Device}'}", "{Device} is not a placeholder"),
      ("registration: {url: 'http://a/', method: put}", "not an HTTP method"),
      ("registration: {url: 'http://a/', concurrency: 0}", "must be 1 to"), ("tokens: {app: 2}", "must be 0.0 to 1.0"),
      ("tokens: {apps: 1}", "is not a known key"), ("hours: [1, 2]", "must be 24 numbers"),
      ("speed: 0", "must be 0.001"), ("offline: {minutes: -1}", "must be"), ("bundle: 'a b'", "not an identifier"),
      ("mdmTopic: com.example", "must begin with com.apple.mgmt."), ("environment: test", "must be development"),
      ("colour: red", "is not a known key"), ("[1]", "expected a mapping"), ("speed: fast", "expected a number"),
    ]) func `a wrong profile is refused with the line and what is wrong`(yaml: String, text: String) throws
  {
    let error = #expect(throws: ClusterError.self) { try FleetProfile(yaml: yaml, file: "day.yaml") }
    #expect(error?.message.contains(text) == true, "\(error?.message ?? "")")
    #expect(error?.message.hasPrefix("day.yaml") == true)
  }

  @Test func `an empty profile is the default day, and so is the file with all keys`() throws {
    #expect(try FleetProfile(yaml: "") == FleetProfile())
    let file = Repository.root.appending(path: "deploy/fleets/default-day.yaml")
    #expect(try FleetProfile(file: file.path) == FleetProfile())
  }
}
