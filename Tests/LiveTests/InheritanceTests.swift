// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing
import WidgetLabTesting

@Suite(.live, .timeLimit(.live)) struct `Child processes of a test` {
  /// A library's socket is not closed by an exec: a child process that inherits it keeps the connection of another test
  /// open.
  @Test func `a child process inherits no descriptor of the test process`() async throws {
    var ends: [CInt] = [0, 0]
    #expect(pipe(&ends) == 0)
    let folder = FileManager.default.temporaryDirectory.path + "/inheritance-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let child = try await LabChild.start(
      "/bin/sleep", ["600"], output: folder + "/out", errors: folder + "/errors")
    // Another process with the write end would prevent the hang-up.
    close(ends[1])
    // The limit guards against a hang.
    var waiting = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
    #expect(poll(&waiting, 1, 120_000) == 1 && waiting.revents & Int16(POLLHUP) != 0)
    close(ends[0])
    try LabProcess(pid: child.pid).signal(SIGKILL)
    _ = await child.ending()
  }
}
