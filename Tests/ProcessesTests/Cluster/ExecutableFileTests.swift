// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Cluster

@Suite(.timeLimit(.minutes(1))) struct `The file of an executable` {
  /// The problem of a file with these bytes, or nil.
  private func problem(_ bytes: Data, permissions: Int = 0o755) throws -> String? {
    let path = FileManager.default.temporaryDirectory.path + "/file-\(UUID().uuidString)"
    try bytes.write(to: URL(fileURLWithPath: path))
    defer { unlink(path) }
    try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
    return ExecutableFile(path).problem
  }

  private static let shell = Data(FileManager.default.contents(atPath: "/bin/sh") ?? Data())

  @Test(arguments: ["/bin/sh", "/proc/self/exe"])
  func `a program for this machine is accepted`(path: String) {
    #expect(ExecutableFile(path).problem == nil)
  }

  @Test func `a script is accepted only if its interpreter exists`() throws {
    #expect(try problem(Data("#!/bin/sh -e\nexit 0\n".utf8)) == nil)
    #expect(
      try problem(Data("#! /nowhere/sh\n".utf8)) == "is a script whose interpreter /nowhere/sh cannot be started")
  }

  @Test func `a missing file, a folder and a device file are refused`() {
    #expect(ExecutableFile("/nowhere/Weather").problem == "cannot be found: No such file or directory")
    #expect(ExecutableFile("/tmp").problem == "is a folder, not an executable")
    #expect(ExecutableFile("/dev/null").problem == "is not a regular file")
  }

  @Test func `a file without execute permission and an empty, a text or a truncated file are refused`() throws {
    #expect(try problem(Self.shell, permissions: 0o644) == "is not executable: run `chmod +x` on it")
    #expect(try problem(Data()) == "is an empty file")
    #expect(try problem(Data("hello\n".utf8)) == "is not a program: neither an ELF file nor a script with #!")
    #expect(try problem(Self.shell.prefix(20)) == "is an ELF file but not a program")
  }

  @Test func `a program for another processor or for macOS is refused`() throws {
    var other = Self.shell
    let machine = other[18]
    other[18] = machine == 183 ? 62 : 183
    let found = try #require(try problem(other))
    #expect(found.contains(machine == 183 ? "is built for x86-64" : "is built for aarch64"))
    #expect(
      try problem(Data([0xcf, 0xfa, 0xed, 0xfe, 0, 0])) == "is a program for macOS, not for Linux")
  }

  @Test func `a program whose dynamic loader is missing is refused`() throws {
    let loader = try #require(ExecutableFile("/bin/sh").loader)
    let missing = String(loader.dropLast(1)) + "?"
    let bytes = Self.shell
    let range = try #require(bytes.range(of: Data(loader.utf8)))
    var changed = bytes
    changed.replaceSubrange(range, with: Data(missing.utf8))
    #expect(try problem(changed) == "needs the dynamic loader \(missing), which does not exist")
  }

  @Test func `checking a file with a damaged ELF header does not crash`() throws {
    let start = Self.shell.prefix(64)
    for index in start.indices {
      for value in [UInt8(0), 0x7f, 0xff] {
        var damaged = Self.shell.prefix(4096)
        damaged[index] = value
        _ = try problem(Data(damaged))
      }
    }
  }

  @Test(arguments: [
    ("libzmq.so.5 => /lib/libzmq.so.5 (0x1)\n/lib64/ld.so (0x2)\n", false, nil),
    (
      "  libnope.so => not found\n  libc.so.6 => /lib/libc.so.6 (0x1)\n", false,
      "needs the shared library libnope.so, which the dynamic loader cannot find"
    ),
    (
      "  a.so => not found\n  b.so => not found\n", false,
      "needs the shared libraries a.so, b.so, which the dynamic loader cannot find"
    ),
    (
      "/a/Weather: /lib/libc.so.6: version `GLIBC_9' not found (required by /a/Weather)\n", true,
      "cannot be loaded: /lib/libc.so.6: version `GLIBC_9' not found (required by /a/Weather)"
    ),
  ])
  func `missing shared libraries are found in the dynamic loader's listing`(
    output: String, failed: Bool, problem: String?
  ) {
    #expect(ExecutableFile("/a/Weather").problem(inListing: output, failed: failed) == problem)
  }
}
