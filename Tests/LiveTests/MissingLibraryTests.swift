// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WidgetLabTesting

@Suite(.live, .timeLimit(.live)) struct `A process without libzmq` {
  @Test func `ends with the words and the code of the dynamic linker, and names the package`() async throws {
    let folder = FileManager.default.temporaryDirectory.path + "/missing-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try Data().write(to: URL(fileURLWithPath: folder + "/libzmq.so.5"))
    let bus = try await LabChild.start(
      try LabCluster.findExecutables() + "/message-bus", ["--instance", folder + "/instance"],
      environment: ["LD_LIBRARY_PATH": folder], output: folder + "/out", errors: folder + "/errors")
    #expect(await bus.ending() == 127)
    let errors = try String(contentsOfFile: folder + "/errors", encoding: .utf8)
    #expect(
      errors.hasPrefix("message-bus: error while loading shared libraries: \(folder)/libzmq.so.5: file too short"))
    #expect(errors.contains("install ZeroMQ 4.3 (Debian: libzmq5)"))
  }
}
