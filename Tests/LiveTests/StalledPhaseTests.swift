// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Testing
import WidgetLabTesting

/// `scripts/test.d/watched`, with a program that prints the lines of a test run.
@Suite(.live, .timeLimit(.live)) struct `A phase of scripts/test` {
  private func watch(_ program: String, limit: Int) async throws -> LabCluster.Answer {
    let folder = FileManager.default.temporaryDirectory.appending(path: "widgetlab-watched-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let child = try await LabChild.start(
      Repository.root.appending(path: "scripts/test.d/watched").path,
      ["\(limit)", folder + "/log", "/bin/bash", "-c", program, folder], output: folder + "/out",
      errors: folder + "/err")
    let status = await child.ending()
    #expect(LabProcess.all(naming: folder).isEmpty, "nothing is left")
    func text(_ name: String) throws -> String { try String(contentsOfFile: folder + "/" + name, encoding: .utf8) }
    #expect(try text("log") == text("out"))
    return LabCluster.Answer(status: status, output: try text("out"), errors: try text("err"))
  }

  @Test func `a phase in which no test ends is ended, with the names of the tests that run and their stacks`()
    async throws
  {
    let program = """
      echo '◇ Test run started.'
      echo '◇ Test "a quick one" started.'
      echo '◇ Test "one of many" started.'
      echo '◇ Test case passing 1 argument a → 1 to "one of many" started.'
      echo '◇ Test "waits forever" started.'
      echo '✔ Test "a quick one" passed after 0.001 seconds.'
      echo '✘ Test "one of many" with 3 test cases failed after 0.1 seconds.'
      exec sleep 600
      """
    let answer = try await watch(program, limit: 2)
    #expect(answer.status == 137)
    #expect(answer.errors.contains("no test has ended for 2 s. These run:\n    \"waits forever\"\n"))
    #expect(!answer.errors.contains("a quick one") && !answer.errors.contains("one of many"))
    #expect(answer.errors.contains("The stacks of process") && answer.errors.lowercased().contains("thread"))
  }

  @Test func `a phase in which tests end keeps its exit code`() async throws {
    let program = "echo '✔ Test a() passed after 0.1 seconds.'; exit 3"
    let answer = try await watch(program, limit: 60)
    #expect(answer.status == 3 && answer.errors.isEmpty)
  }
}
