// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Cluster

@Suite struct `The space of a disk` {
  @Test(arguments: [(60 << 20, 15 << 20), (1 << 30, 256 << 20), (1 << 40, 256 << 20)] as [(Int64, Int64)])
  func `the reserve is a quarter of a small disk, and at most 256 MiB`(size: Int64, reserve: Int64) {
    #expect(DiskSpace(folder: "/x", free: 0, size: size).reserve == reserve)
  }

  @Test func `a shortage names the folder and the free bytes`() {
    #expect(DiskSpace(folder: "/x", free: 1 << 20, size: 60 << 20).shortage == nil)
    #expect(
      DiskSpace(folder: "/x", free: (1 << 20) - 1, size: 60 << 20).shortage
        == "no space left on the disk: /x has 1023 KiB free of 60 MiB")
    #expect(
      DiskSpace(folder: "/x", free: 1 << 30, size: 1 << 40, lacksFiles: true).shortage
        == "no space left on the disk: the file system of /x has room for no more files")
  }

  @Test func `a folder that does not exist is on the file system of the one above it`() throws {
    let there = try #require(DiskSpace(at: "/dev/shm"))
    let missing = try #require(DiskSpace(at: "/dev/shm/missing/folder"))
    #expect(missing.size == there.size)
    #expect(missing.folder == "/dev/shm/missing/folder")
  }
}
