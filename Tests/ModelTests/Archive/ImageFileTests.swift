// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Testing

@Suite struct `An image file` {
  /// One opaque red pixel.
  private static let png =
    Data(
      base64Encoded:
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC") ?? Data()

  /// The parts of a JPEG file: start, a segment, a frame of 20 by 10 pixels, a scan.
  private static let jpeg = Data(
    [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2, 0xFF, 0xC0, 0, 11, 8, 0, 10, 0, 20, 1, 1, 0x11, 0]
      + [0xFF, 0xDA, 0, 2, 7, 7, 7, 0xFF, 0xD9])

  @Test(.rule("PICTURE-72")) func `the format and the size are read in the header`() throws {
    let png = try ImageFile(checking: Self.png)
    #expect(png.format == .png && png.width == 1 && png.height == 1 && png.area == 1)
    let jpeg = try ImageFile(checking: Self.jpeg)
    #expect(jpeg.format == .jpeg && jpeg.width == 20 && jpeg.height == 10 && jpeg.format.mediaType == "image/jpeg")
    let slice = (Data([1, 2, 3]) + Self.png).dropFirst(3)
    #expect(try ImageFile(checking: slice) == png, "a slice of other data")
  }

  @Test(.rule("PICTURE-75")) func `a file that is cut off anywhere is refused`() {
    for length in 0..<Self.png.count {
      #expect(throws: ImageFault.self) { try ImageFile(checking: Self.png.prefix(length)) }
    }
    for length in 0..<Self.jpeg.count {
      #expect(throws: ImageFault.self) { try ImageFile(checking: Self.jpeg.prefix(length)) }
    }
  }

  @Test(.rule("PICTURE-75")) func `a PNG file with any other bit is refused`() {
    // The last four bytes of the signature, lengths, types, contents and checksums.
    for index in Self.png.indices {
      for bit in 0..<8 {
        var changed = Self.png
        changed[index] ^= 1 << UInt8(bit)
        #expect(throws: ImageFault.self, "byte \(index), bit \(bit)") { try ImageFile(checking: changed) }
      }
    }
  }

  @Test(
    .rule("PICTURE-75"),
    arguments: [
      ("", "an empty file"), ("%PDF-1.7", "a PDF file"), ("GIF89a", "a GIF file"), ("RIFF....WEBPVP8", "a WebP file"),
      ("....ftypheic", "a HEIF file"), ("<?xml version=\"1.0\"?><svg/>", "an SVG file"),
      ("hello", "of an unknown format"),
    ])
  func `another format is refused with its name`(text: String, name: String) {
    #expect(throws: ImageFault.format(name)) { try ImageFile(header: Data(text.utf8)) }
  }

  @Test(.rule("PICTURE-75")) func `a header with an impossible size is refused`() {
    for size: [UInt8] in [[0, 0, 0, 0, 0, 0, 0, 1], [0, 0, 0, 1, 0, 0, 0, 0], [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 1]] {
      var changed = Self.png
      changed.replaceSubrange(16..<24, with: size)
      #expect(throws: ImageFault.damaged("its header has no size")) { try ImageFile(header: changed) }
    }
  }

  @Test(
    .rule("PICTURE-74"),
    arguments: [
      (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      (3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ])
  func `the digest of the published examples is correct`(count: Int, digest: String) {
    #expect(ContentDigest.hexadecimal(of: Data("abc".utf8.prefix(count))) == digest)
  }

  @Test(.rule("PICTURE-74")) func `the digest of two blocks and of a million bytes is correct`() {
    #expect(
      ContentDigest.hexadecimal(of: Data("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8))
        == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
    #expect(
      ContentDigest.hexadecimal(of: Data(repeating: UInt8(ascii: "a"), count: 1_000_000))
        == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  @Test(.rule("PICTURE-75"), .timeLimit(.minutes(1)))
  func `a file that is missing, special or too long is not read`() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "bounded-\(UUID().uuidString)")
    #expect(throws: BoundedFile.Fault.missing) { try BoundedFile.read(file, limit: 10) }
    #expect(throws: BoundedFile.Fault.special) { try BoundedFile.read(URL(filePath: "/dev/zero"), limit: 10) }
    defer { try? FileManager.default.removeItem(at: file) }
    mkfifo(file.path, 0o600)
    #expect(throws: BoundedFile.Fault.special) { try BoundedFile.read(file, limit: 10) }
    unlink(file.path)
    try Data(count: 11).write(to: file)
    #expect(throws: BoundedFile.Fault.tooLong(limit: 10)) { try BoundedFile.read(file, limit: 10) }
    #expect(try BoundedFile.read(file, limit: 11).count == 11)
  }

  @Test(.rule("PICTURE-74")) func `a view has the digest of each of its images once`() {
    func image(_ digest: String) -> ViewArchive { ViewArchive(.leaf(.image), [.image: .string(digest)]) }
    var view = ViewArchive.group([image("b"), image("a"), image("b"), .text("c")])
    view.modifiers = [.init(.layer(.background), views: [image("c")])]
    #expect(view.imageDigests == ["c", "b", "a"])
  }
}
