// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import Messages
import Testing

@Suite struct `The behaviours of a server of downloads` {
  private static let file = ServedFile("app", size: 70_000)

  private func turn(range first: Int? = nil) throws -> ServerTurn {
    let range = first.map { "Range: bytes=\($0)-\r\nIf-Range: \(Self.file.entityTag)\r\n" } ?? ""
    let request = try #require(ServerRequest(head: "GET /figures/app?a=b HTTP/1.1\r\nHost: x\r\n\(range)"))
    return ServerTurn(
      request: request, file: Self.file, otherFile: ServedFile("other", size: 70_000),
      ports: ServerPorts(main: 1, other: 2, secure: [:]))
  }

  private func bytes(_ actions: [ServerAction]) -> [UInt8] {
    actions.flatMap { action -> [UInt8] in
      switch action {
      case .send(let bytes), .sendSlowly(let bytes): bytes
      case .wait, .reset, .finish, .keep: []
      }
    }
  }

  @Test func `each has another name, and none leaves open how a download may end`() {
    #expect(Set(ServerBehaviour.all.map(\.name)).count == ServerBehaviour.all.count)
    #expect(ServerBehaviour.all.count >= 60)
    for behaviour in ServerBehaviour.all {
      #expect(!behaviour.ends.isEmpty, "\(behaviour.name)")
      #expect(ServerBehaviour.named(behaviour.name)?.name == behaviour.name)
    }
  }

  @Test func `each differs from a good server, for a whole file or for a part`() throws {
    let (whole, part) = (try turn(), try turn(range: 50_000))
    for behaviour in ServerBehaviour.all {
      #expect(
        behaviour.answer(whole) != whole.good() || behaviour.answer(part) != part.good(), "\(behaviour.name)")
    }
  }

  @Test func `a good server sends the file, or the part that is asked for`() throws {
    #expect(bytes(try turn().good()).suffix(70_000) == Self.file.bytes[...])
    let part = bytes(try turn(range: 69_990).good())
    #expect(String(decoding: part, as: UTF8.self).contains("206 Partial Content"))
    #expect(part.suffix(10) == Self.file.bytes.suffix(10))
  }

  @Test func `the path of a loop leads to itself, and that of hops to the file`() throws {
    func answer(_ path: String) throws -> String {
      let request = try #require(ServerRequest(head: "GET \(path) HTTP/1.1\r\n"))
      let turn = ServerTurn(
        request: request, file: Self.file, otherFile: Self.file, ports: ServerPorts(main: 1, other: 2, secure: [:]))
      return String(decoding: bytes(turn.good()).prefix(100), as: UTF8.self)
    }
    #expect(try answer("/loop/app").contains("Location: /loop/app\r\n"))
    #expect(try answer("/hop/2/app").contains("Location: /hop/1/app\r\n"))
    #expect(try answer("/hop/0/app").contains("Location: /plain/app\r\n"))
    #expect(try answer("/else").contains("404"))
  }

  @Test func `the zeros of a bomb need a hundredth of their length`() {
    let bomb = Coding.Bomb(1 << 20)
    #expect(bomb.decoded.count > 1_000_000)
    #expect(bomb.encoded.count < bomb.decoded.count / 100)
  }
}

@Suite struct `The judge of downloads` {
  private static func time(_ seconds: Int64) -> Timestamp { Timestamp(microseconds: seconds * 1_000_000) }

  private func findings(
    _ end: DownloadJudge.Ended.End, met served: [(String?, Int64)], disturbed: [Int64] = []
  ) -> [String] {
    let judge = DownloadJudge(disturbances: disturbed.map(Self.time)) { _, behaviour in
      switch behaviour {
      case "fatal": DownloadJudge.Permitted(hashes: [], codes: [-1017])
      case "other": DownloadJudge.Permitted(hashes: ["other"], codes: [])
      default: DownloadJudge.Permitted(hashes: ["file"], codes: [])
      }
    }
    let task = DownloadJudge.Ended(
      session: "s", task: 1, created: Self.time(100), ended: Self.time(200), end: end)
    return judge.findings(
      [task], served.map { DownloadJudge.Served(session: "s", behaviour: $0, time: Self.time($1)) })
  }

  @Test func `a download that was repeated until the server was good has the whole file`() {
    #expect(findings(.file("file"), met: [("cut", 110), (nil, 120)]).isEmpty)
    #expect(findings(.file("half"), met: [("cut", 110), (nil, 120)]).count == 1)
  }

  @Test func `a download that must fail fails with its error, and with no other`() {
    #expect(findings(.failure(-1017), met: [("fatal", 110)]).isEmpty)
    #expect(findings(.failure(-1001), met: [("fatal", 110)]) == ["task 1 of s, which met fatal, failed with -1001"])
    #expect(findings(.failure(-1017), met: [("cut", 110)]).count == 1)
    #expect(findings(.file("file"), met: [("fatal", 110)]).count == 1)
  }

  @Test func `a download that must fail is not repeated, unless something else has interrupted it`() {
    #expect(
      findings(.file("file"), met: [("fatal", 110), (nil, 120)])
        == ["task 1 of s was repeated after fatal, which is final"])
    #expect(findings(.file("file"), met: [("fatal", 110), (nil, 120)], disturbed: [115]).isEmpty)
    #expect(findings(.file("file"), met: [("fatal", 110), (nil, 120)], disturbed: [60, 150]).count == 1)
  }

  @Test func `only requests between the creation and the end of a task are its own`() {
    #expect(findings(.file("other"), met: [("other", 90), (nil, 110)]).count == 1)
    #expect(findings(.file("other"), met: [("other", 110), (nil, 250)]).isEmpty)
    // A task without a request is not judged: its file was complete before the host was restarted.
    #expect(findings(.file("file"), met: [("fatal", 90), ("fatal", 210)]).isEmpty)
  }
}

@Suite struct `The trap of a process` {
  @Test(arguments: [4, 5, 6, 7, 8, 11]) func `a signal of a trap or of a memory fault is one`(signal: Int32) throws {
    let trap = try #require(ProcessTrap("host", pid: 7, signal: signal, output: "Fatal error: x"))
    #expect("\(trap)" == "host (pid 7) ended with \(Ending.name(ofSignal: signal)): Fatal error: x")
  }

  @Test(arguments: [1, 2, 9, 13, 15, 19]) func `a signal that a campaign or a user sends is none`(signal: Int32) {
    #expect(ProcessTrap("host", pid: 7, signal: signal) == nil)
  }
}
