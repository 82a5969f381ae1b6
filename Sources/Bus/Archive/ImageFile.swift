// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// What the bytes of an image file say about it. Pixels are never decoded, so that time and memory depend on the length
/// of the file only. Source: the PNG specification, third edition, and ITU-T T.81.
package struct ImageFile: Hashable, Sendable {
  /// The file formats that can be drawn.
  package enum Format: String, Hashable, Sendable {
    case png, jpeg

    package var mediaType: String { "image/\(rawValue)" }
  }

  package let format: Format
  /// In pixels.
  package let width: Int
  /// In pixels.
  package let height: Int

  /// Pixels.
  package var area: Double { Double(width) * Double(height) }

  /// Of an image without bytes.
  package static let empty = ImageFile(.png, width: 0, height: 0)

  /// Reads the header.
  ///
  /// - Throws: `ImageFault` for another format, and for a header without a size.
  package init(header data: Data) throws(ImageFault) {
    let found = data.withUnsafeBytes { ImageBytes($0).header }
    self = try found.get()
  }

  /// Checks the whole file: that it is complete, and the checksums of a PNG file.
  ///
  /// - Throws: `ImageFault` for another format, and for a damaged file.
  package init(checking data: Data) throws(ImageFault) {
    let file = try ImageFile(header: data)
    if let damage = file.damage(in: data) { throw damage }
    self = file
  }

  /// Why the rest of the file, after its header, cannot be drawn; `nil` for a whole file.
  package func damage(in data: Data) -> ImageFault? { data.withUnsafeBytes { ImageBytes($0).damage(of: format) } }

  fileprivate init(_ format: Format, width: Int, height: Int) {
    self.format = format
    self.width = width
    self.height = height
  }
}

/// Why an image file cannot be drawn. Definite.
package enum ImageFault: Error, Hashable, CustomStringConvertible {
  /// Neither PNG nor JPEG, with the format that it seems to be.
  case format(String)
  /// A PNG or JPEG file that is damaged, and how.
  case damaged(String)
  /// An SVG document that is not read, and why.
  case vector(String)

  package var description: String {
    switch self {
    case .format(let found): "it is \(found), and only PNG, JPEG and SVG are drawn"
    case .damaged(let reason): "the file is damaged: \(reason)"
    case .vector(let reason): "the SVG document is not read: \(reason)"
    }
  }
}

/// The bytes of a file, which may be cut off anywhere.
private struct ImageBytes {
  private static let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF]

  private let bytes: UnsafeRawBufferPointer

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// A number with its high byte first; `nil` beyond the end.
  private func number(at index: Int, _ count: Int) -> Int? {
    guard index >= 0, index <= bytes.count - count else { return nil }
    var value = 0
    for offset in index..<index + count { value = value << 8 | Int(bytes[offset]) }
    return value
  }

  private func text(at index: Int, _ count: Int) -> String? {
    guard index >= 0, index <= bytes.count - count else { return nil }
    return String(decoding: bytes[index..<index + count], as: UTF8.self)
  }

  var header: Result<ImageFile, ImageFault> {
    let format: ImageFile.Format
    var size: (width: Int, height: Int)?
    if bytes.starts(with: PNGFile.signature) {
      format = .png
      if text(at: 12, 4) == "IHDR", let width = number(at: 16, 4), let height = number(at: 20, 4) {
        size = (width, height)
      }
    } else if bytes.starts(with: Self.jpeg) {
      format = .jpeg
      size = frame
    } else {
      return .failure(.format(otherFormat))
    }
    guard let size, size.width > 0, size.height > 0, size.width < 1 << 31, size.height < 1 << 31 else {
      return .failure(.damaged("its header has no size"))
    }
    return .success(ImageFile(format, width: size.width, height: size.height))
  }

  /// The size in the frame header of a JPEG file.
  private var frame: (width: Int, height: Int)? {
    var index = 2
    while let marker = number(at: index, 2), let length = number(at: index + 2, 2), length >= 2 {
      let isFrame = (0xFFC0...0xFFCF).contains(marker) && ![0xFFC4, 0xFFC8, 0xFFCC].contains(marker)
      if isFrame, let height = number(at: index + 5, 2), let width = number(at: index + 7, 2) { return (width, height) }
      index += 2 + length
    }
    return nil
  }

  /// A name of the format for people.
  private var otherFormat: String {
    if bytes.isEmpty { return "an empty file" }
    if text(at: 0, 4) == "%PDF" { return "a PDF file" }
    if text(at: 0, 3) == "GIF" { return "a GIF file" }
    if text(at: 0, 4) == "RIFF", text(at: 8, 4) == "WEBP" { return "a WebP file" }
    if text(at: 4, 4) == "ftyp" { return "a HEIF file" }
    let start = text(at: 0, min(bytes.count, 512)) ?? ""
    return start.contains("<svg") || start.hasPrefix("<?xml") ? "an SVG file" : "of an unknown format"
  }

  /// What is wrong after the header.
  func damage(of format: ImageFile.Format) -> ImageFault? {
    switch format {
    case .png: damagedPNG.map { .damaged($0) }
    case .jpeg: damagedJPEG.map { .damaged($0) }
    }
  }

  private var damagedPNG: String? {
    var index = 8
    var hasPixels = false
    while true {
      guard let length = number(at: index, 4), let type = text(at: index + 4, 4),
        let checksum = number(at: index + 8 + length, 4)
      else { return "it is cut off" }
      let content = UnsafeRawBufferPointer(rebasing: bytes[(index + 4)..<(index + 8 + length)])
      guard Int(Checksum.crc32(of: content)) == checksum else { return "the checksum of its \(type) is wrong" }
      if type == "IDAT" { hasPixels = true }
      if type == "IEND" { return hasPixels ? nil : "it has no pixels" }
      index += 12 + length
    }
  }

  /// The end marker is looked for from the end, because some programs append data to it.
  private var damagedJPEG: String? {
    var index = bytes.count - 2
    while index > 2 {
      if bytes[index] == 0xFF, bytes[index + 1] == 0xD9 { return nil }
      index -= 1
    }
    return "it is cut off"
  }
}

/// What all writers of PNG files have in common. Source: the PNG specification, third edition.
package enum PNGFile {
  /// The first bytes of a file.
  package static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

  /// The signature, and the header of a file with 8 bits for red, green, blue and opacity, without interlacing.
  package static func start(width: Int, height: Int) -> [UInt8] {
    signature + chunk("IHDR", number(width) + number(height) + [8, 6, 0, 0, 0])
  }

  /// A part of a file, with its length, name and checksum.
  package static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
    let named = Array(name.utf8) + content
    return number(content.count) + named + number(Int(named.withUnsafeBytes { Checksum.crc32(of: $0) }))
  }

  /// Four bytes, the highest first.
  private static func number(_ value: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }
}

/// Reads files that an author or another process made, with a limit.
package enum BoundedFile {
  /// Why a file was not read. Definite.
  package enum Fault: Error, Hashable, CustomStringConvertible {
    case missing
    /// Not a regular file.
    case special
    case tooLong(limit: Int)
    case unreadable(String)

    package var description: String {
      switch self {
      case .missing: "the file is missing"
      case .special: "it is not a regular file"
      case .tooLong(let limit): "the file is longer than \(limit) bytes"
      case .unreadable(let reason): "the file cannot be read: \(reason)"
      }
    }
  }

  /// The content of a regular file of at most `limit` bytes, even if it grows during the read. A pipe or a device is not
  /// waited for.
  package static func read(_ file: URL, limit: Int) throws(Fault) -> Data {
    let descriptor = open(file.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw errno == ENOENT ? .missing : .unreadable(String(cString: strerror(errno)))
    }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { throw .special }
    guard status.st_size <= limit else { throw .tooLong(limit: limit) }
    let data: Data
    do {
      data = try handle.read(upToCount: limit + 1) ?? Data()
    } catch {
      throw .unreadable(error.localizedDescription)
    }
    guard data.count <= limit else { throw .tooLong(limit: limit) }
    return data
  }
}
