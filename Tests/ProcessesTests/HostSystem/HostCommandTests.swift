// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import HostSystem
import StandingProcesses
import Testing

@Suite struct HostCommandTests {
  @Test(arguments: [
    ["--instance", "/a b", "--config", "c.yaml"],
    ["--config", "c.yaml", "--instance", "i", "--die-with-parent", "4711"],
  ])
  func `plain options have the values that ArgumentParser reads`(arguments: [String]) throws {
    let plain = try #require(HostCommand.plain(arguments[...]))
    let parsed = try HostCommand.parse(arguments)
    #expect(plain.options.instance == parsed.options.instance)
    #expect(plain.options.dieWithParent == parsed.options.dieWithParent)
    #expect(plain.config.path == parsed.config.path)
  }

  @Test(arguments: [
    [], ["--help"], ["--instance", "i"], ["--instance=i", "--config=c"], ["--instance", "i", "--config"],
    ["--instance", "i", "--config", "c", "--config", "d"], ["--instance", "i", "--config", "c", "--other", "1"],
    ["--instance", "i", "--config", "--die-with-parent"], ["--instance", "", "--config", "c"],
    ["--instance", "i", "--config", "c", "--die-with-parent", "x"], ["--", "i", "--instance", "i", "--config", "c"],
    ["run", "--instance", "i", "--config", "c"], ["--generate-completion-script", "bash"],
  ])
  func `everything else is left to ArgumentParser`(arguments: [String]) {
    #expect(HostCommand.plain(arguments[...])?.config.path == nil)
  }
}
