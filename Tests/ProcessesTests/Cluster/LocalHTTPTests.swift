// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Glibc
import Testing

@Suite(.timeLimit(.minutes(1))) struct `The HTTP client for servers of this machine` {
  /// A limit below one second, of a server that reads nothing and sends nothing. 64 MiB do not fit into its socket.
  @Test(arguments: [nil, 64 << 20] as [Int?])
  func `a request whose limit passes has a failure, while it sends and while it receives`(length: Int?) async throws {
    let listener = try LocalListener()
    // The connection ends with `stop`.
    listener.accept { connection in
      var state = pollfd(fd: connection, events: 0, revents: 0)
      _ = poll(&state, 1, 30_000)
    }
    defer { listener.stop() }
    let begun = ContinuousClock.now
    let error = await #expect(throws: LocalHTTP.Failure.self) {
      try await LocalHTTP.request(
        "http://127.0.0.1:\(listener.port)/", json: length.map { Data(count: $0) }, within: .milliseconds(300))
    }
    #expect(error?.description.contains("within the time limit") == true, "\(error?.description ?? "no error")")
    #expect(ContinuousClock.now - begun >= .milliseconds(300))
  }

  @Test func `a body that does not fit into the socket arrives whole`() async throws {
    let listener = try LocalListener()
    listener.accept { connection in
      var buffer = [UInt8](repeating: 0, count: 65_536)
      var zeros = 0
      while zeros < 8 << 20 {
        let count = recv(connection, &buffer, buffer.count, 0)
        guard count > 0 else { return }
        // The head is in the first piece.
        zeros += zeros > 0 ? count : count - (buffer[..<count].firstIndex(of: 0) ?? count)
      }
      let response = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
      _ = send(connection, response, response.utf8.count, Int32(MSG_NOSIGNAL))
    }
    defer { listener.stop() }
    let answer = try await LocalHTTP.request(
      "http://127.0.0.1:\(listener.port)/", json: Data(count: 8 << 20), within: .seconds(20))
    #expect(answer.status == 200 && answer.body == Data("ok".utf8))
  }

  @Test(arguments: ["http://127.0.0.1:70000/", "http://127.0.0.1/", "nothing"])
  func `a URL without a port of 0 to 65535 is refused`(url: String) async {
    await #expect(throws: LocalHTTP.Failure.self) { try await LocalHTTP.request(url) }
  }
}
