// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Testing

/// Lines of strace in, changes of a folder out.
@Suite struct `The trace of a disk` {
  private static let folder = "/t/f"

  private func hex(_ text: String) -> String { text.utf8.map { "\\x" + [$0].hexadecimal }.joined() }

  private func file(_ name: String) -> String { hex(Self.folder + "/" + name) }

  private func items(_ lines: String..., descriptors: [Int32: DiskTrace.Descriptor] = [:]) throws -> [DiskTrace.Item] {
    let text = lines.enumerated().map { "7 \(100 + $0).000001 \($1)\n" }.joined()
    return try DiskTrace.items(
      SystemCall.all(in: Data(text.utf8), below: Self.folder), below: Self.folder, descriptors: descriptors)
  }

  private func changes(_ lines: [String], descriptors: [Int32: DiskTrace.Descriptor] = [:]) throws -> [DiskModel.Change]
  {
    let text = lines.enumerated().map { "7 \(100 + $0).000001 \($1)\n" }.joined()
    return try DiskTrace.items(
      SystemCall.all(in: Data(text.utf8), below: Self.folder), below: Self.folder, descriptors: descriptors
    ).map(\.change)
  }

  @Test func `an opened file is created and truncated, and written where its descriptor is`() throws {
    let foundChanges = try changes([
      #"openat(AT_FDCWD<\#(hex("/"))>, "\#(file("a"))", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 5<\#(file("a"))> <0.000010>"#,
      #"write(5<\#(file("a"))>, "\#(hex("ab"))", 2) = 2 <0.000010>"#,
      #"write(5<\#(file("a"))>, "\#(hex("cde"))", 3) = 2 <0.000010>"#,
      #"lseek(5<\#(file("a"))>, 1, SEEK_SET) = 1 <0.000010>"#,
      #"write(5<\#(file("a"))>, "\#(hex("x"))", 1) = 1 <0.000010>"#,
      #"pwrite64(5<\#(file("a"))>, "\#(hex("y"))", 1, 9) = 1 <0.000010>"#,
      #"ftruncate(5<\#(file("a"))>, 4) = 0 <0.000010>"#,
      #"fdatasync(5<\#(file("a"))>) = 0 <0.000010>"#,
    ])
    #expect(
      foundChanges == [
        .create("/t/f/a"), .resize("/t/f/a", to: 0), .write("/t/f/a", at: 0, Array("ab".utf8)),
        .write("/t/f/a", at: 2, Array("cd".utf8)), .write("/t/f/a", at: 1, Array("x".utf8)),
        .write("/t/f/a", at: 9, Array("y".utf8)), .resize("/t/f/a", to: 4), .synchronize("/t/f/a"),
      ])
  }

  @Test func `a file that was open before the trace has its former offset, or appends`() throws {
    let lines = [
      #"write(5<\#(file("a"))>, "\#(hex("ab"))", 2) = 2 <0.000010>"#,
      #"write(6<\#(file("b"))>, "\#(hex("cd"))", 2) = 2 <0.000010>"#,
    ]
    let found = try changes(lines, descriptors: [5: .init(offset: 7), 6: .init(appends: true)])
    #expect(found == [.write("/t/f/a", at: 7, Array("ab".utf8)), .append("/t/f/b", Array("cd".utf8))])
  }

  @Test func `names are created, changed and removed, also below the folder of a descriptor`() throws {
    let foundChanges = try changes([
      #"mkdir("\#(file("d"))", 0700) = 0 <0.000010>"#,
      #"rename("\#(file("a"))", "\#(file("b"))") = 0 <0.000010>"#,
      #"unlinkat(AT_FDCWD<\#(hex("/t/f"))>, "\#(hex("c"))", 0) = 0 <0.000010>"#,
      #"unlink("\#(hex("/elsewhere"))") = 0 <0.000010>"#,
      #"fsync(4<\#(hex("/t/f"))>) = 0 <0.000010>"#,
    ])
    #expect(
      foundChanges == [.makeFolder("/t/f/d"), .rename("/t/f/a", to: "/t/f/b"), .remove("/t/f/c"), .synchronize("/t/f")])
  }

  @Test func `copies in the kernel have a source and offsets`() throws {
    let foundChanges = try changes([
      #"ioctl(5<\#(file("to"))>, BTRFS_IOC_CLONE or FICLONE, 4<\#(file("from"))>) = -1 EOPNOTSUPP (Not supported) <0.000010>"#,
      #"sendfile(5<\#(file("to"))>, 4<\#(file("from"))>, NULL, 1073741824) = 100 <0.000010>"#,
      #"sendfile(5<\#(file("to"))>, 4<\#(file("from"))>, NULL, 1073741824) = 20 <0.000010>"#,
      #"ioctl(6<\#(file("third"))>, BTRFS_IOC_CLONE or FICLONE, 4<\#(file("from"))>) = 0 <0.000010>"#,
    ])
    #expect(
      foundChanges == [
        .copy(from: "/t/f/from", start: 0, count: 100, to: "/t/f/to", at: 0),
        .copy(from: "/t/f/from", start: 100, count: 20, to: "/t/f/to", at: 100),
        .copy(from: "/t/f/from", start: 0, count: nil, to: "/t/f/third", at: 0),
      ])
  }

  @Test func `calls of two threads overlap, and calls that failed or did not end are left out`() throws {
    let text = """
      7 100.000001 pwrite64(5<\(file("a"))>, "\(hex("ab"))", 2, 0 <unfinished ...>
      8 100.000002 fdatasync(5<\(file("a"))> <unfinished ...>
      7 100.000003 <... pwrite64 resumed>) = 2 <0.000002>
      8 100.000009 <... fdatasync resumed>) = 0 <0.000007>
      8 100.000010 unlink("\(file("b"))") = -1 ENOENT (No such file or directory) <0.000001>
      7 100.000011 fsync(5<\(file("a"))> <unfinished ...>
      8 100.000012 --- SIGCHLD {si_signo=SIGCHLD} ---
      8 100.000013 +++ exited with 0 +++

      """
    let items = try DiskTrace.items(SystemCall.all(in: Data(text.utf8), below: Self.folder), below: Self.folder)
    #expect(items.map(\.change) == [.write("/t/f/a", at: 0, Array("ab".utf8)), .synchronize("/t/f/a")])
    let steps = DiskTrace.steps([items])
    #expect(steps.map(\.change) == [.write("/t/f/a", at: 0, Array("ab".utf8)), .synchronize("/t/f/a"), nil, nil])
    #expect(steps.map(\.call) == [1, 2, 1, 2])
  }

  @Test func `steps of one process keep their order, and those of two are ordered by their times`() throws {
    let first = try items(
      #"write(5<\#(file("a"))>, "\#(hex("a"))", 1) = 1 <0.000000>"#, #"fsync(5<\#(file("a"))>) = 0 <0.500000>"#)
    let second = try items(#"mkdir("\#(file("d"))", 0700) = 0 <2.000000>"#)
    let steps = DiskTrace.steps([first, second])
    #expect(steps.map(\.call) == [1, 1, 3, 2, 2, 3])
    #expect(steps.map { $0.change == nil } == [false, true, false, false, true, true])
  }

  @Test func `a call that is not modelled is refused by name`() throws {
    for line in [
      #"mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_SHARED, 5<\#(file("a"))>, 0) = 0x7f0000000000 <0.000010>"#,
      #"fallocate(5<\#(file("a"))>, 0, 0, 4096) = 0 <0.000010>"#,
      #"writev(5<\#(file("a"))>, [{iov_base="\#(hex("a"))", iov_len=1}], 1) = 1 <0.000010>"#,
      #"openat(AT_FDCWD<\#(hex("/"))>, "\#(file("a"))", O_RDWR|O_TMPFILE, 0600) = 5 <0.000010>"#,
    ] {
      let error = #expect(throws: DiskTrace.Unknown.self) { try changes([line]) }
      let name = line.prefix { $0 != "(" }
      #expect(error?.description.hasPrefix(name) == true)
    }
    #expect(throws: SystemCall.Malformed.self) {
      try changes([#"write(5<\#(file("a"))>, "\#(hex("ab"))"..., 900) = 900 <0.000010>"#])
    }
  }
}
