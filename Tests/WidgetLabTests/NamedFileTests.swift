// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing

@testable import WidgetLab

/// Files whose paths the user gives.
@Suite struct `Files that the user names` {
  private func withFolder(_ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "named-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try body(folder)
  }

  @Test func `a FIFO and a link stay, and a regular file is replaced`() throws {
    try withFolder { folder in
      let (fifo, link, target) = (folder + "/fifo.json", folder + "/link.json", folder + "/target.json")
      #expect(mkfifo(fifo, 0o600) == 0)
      let reader = open(fifo, O_RDWR | O_NONBLOCK)
      defer { close(reader) }
      try NamedFile.write(Data("[]".utf8), to: fifo)
      var bytes = [UInt8](repeating: 0, count: 8)
      #expect(read(reader, &bytes, 8) == 2)
      #expect(try FileManager.default.attributesOfItem(atPath: fifo)[.type] as? FileAttributeType != .typeRegular)
      // The target does not exist yet.
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
      for text in ["first", "2"] {
        try NamedFile.write(Data(text.utf8), to: link)
        #expect(FileManager.default.contents(atPath: target) == Data(text.utf8))
      }
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == target)
      try NamedFile.write(Data("3".utf8), to: target)
      #expect(FileManager.default.contents(atPath: link) == Data("3".utf8))
    }
  }

  @Test func `a device without space and a folder are errors`() throws {
    try withFolder { folder in
      try FileManager.default.createSymbolicLink(atPath: folder + "/full", withDestinationPath: "/dev/full")
      #expect(throws: (any Error).self) { try NamedFile.write(Data("1".utf8), to: folder + "/full") }
      #expect(throws: (any Error).self) { try NamedFile.write(Data("1".utf8), to: folder) }
    }
  }
}
