// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Messages
import Testing

@testable import AuthorRuntime
@testable import CoreFoundationAPI
@testable import CoreGraphicsAPI
@testable import ImageIO
@testable import UIKit

@Suite(.timeLimit(.minutes(1))) struct `Image files of an author` {
  /// An image of one colour.
  private func image(_ width: Int, _ height: Int, pixel: [UInt8] = [128, 64, 0, 128]) throws -> CGImage {
    let pixels = Data((0..<width * height).flatMap { _ in pixel })
    let provider = try #require(CGDataProvider(data: pixels))
    return try #require(
      CGImage(
        width: width, height: height, bitsPerComponent: 8, bitsPerPixel: 32, bytesPerRow: width * 4,
        space: CGColorSpaceCreateDeviceRGB(),
        bitmapInfo: CGBitmapInfo(rawValue: CGImageAlphaInfo.premultipliedLast.rawValue),
        provider: provider, decode: nil, shouldInterpolate: false,
        intent: .defaultIntent))
  }

  /// A JPEG file with only its header, and an orientation.
  private func photo(_ orientation: UInt8) -> Data {
    let directory: [UInt8] = [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0]
    let exif = Array("Exif\0\0".utf8) + directory
    let frame: [UInt8] = [0xFF, 0xC0, 0, 11, 8, 0, 30, 0, 40, 1, 1, 0x11, 0]
    return Data([0xFF, 0xD8, 0xFF, 0xE1, 0, UInt8(exif.count + 2)] + exif + frame)
  }

  @Test func `pixels become a whole PNG file`() throws {
    let image = try image(300, 200)
    let file = try ImageFile(checking: image.file)
    #expect(file.format == .png && file.width == 300 && file.height == 200 && image.bytesPerRow == 1200)
    #expect(image.alphaInfo == .last)
    // The first pixel after the header of the file, of the chunk, of zlib and of the block, and the row's filter.
    #expect(Array(image.file.dropFirst(33 + 8 + 2 + 5 + 1).prefix(4)) == [255, 128, 0, 128])
  }

  /// The parts of a colour, from 0 to 255.
  private func parts(_ pixel: UInt32) -> [Int] { [16, 8, 0].map { Int(pixel >> $0 & 255) } }

  @Test(.rule("PICTURE-80")) func `a PNG image becomes a JPEG file, on white, and the file a PNG file`() throws {
    let image = UIImage(cgImage: try image(24, 16))
    let jpeg = try #require(image.jpegData(compressionQuality: 1))
    #expect(try ImageFile(checking: jpeg).format == .jpeg)
    let decoded = try DecodedImage(jpeg: jpeg)
    #expect(decoded.width == 24 && decoded.height == 16 && decoded.pixels.count == 24 * 16)
    // Half of (255, 128, 0) on white.
    for (found, expected) in zip(parts(decoded.pixels[40]), [255, 191, 127]) { #expect(abs(found - expected) < 6) }
    let photo = try #require(UIImage(data: jpeg))
    let png = try #require(photo.pngData())
    #expect(try ImageFile(checking: png).format == .png)
    #expect(try DecodedImage(png: png).pixels == decoded.pixels)
    #expect(image.pngData() == image.data)
  }

  @Test(.rule("PICTURE-80")) func `the quality determines the size of a JPEG file, and damage gives none`() throws {
    var random = SystemRandomNumberGenerator()
    let noise = Data((0..<64 * 64 * 4).map { $0 % 4 == 3 ? 255 : UInt8.random(in: 0...255, using: &random) })
    let provider = try #require(CGDataProvider(data: noise))
    let pixels = try #require(
      CGImage(
        width: 64, height: 64, bitsPerComponent: 8, bitsPerPixel: 32, bytesPerRow: 256,
        space: CGColorSpaceCreateDeviceRGB(), bitmapInfo: CGBitmapInfo(rawValue: CGImageAlphaInfo.last.rawValue),
        provider: provider, decode: nil, shouldInterpolate: false, intent: .defaultIntent))
    let image = UIImage(cgImage: pixels)
    let fine = try #require(image.jpegData(compressionQuality: 0.9))
    let coarse = try #require(image.jpegData(compressionQuality: 0.1))
    #expect(coarse.count < fine.count / 2)
    #expect(try #require(UIImage(data: fine)?.jpegData(compressionQuality: 0.1)).count < fine.count / 2)
    #expect(image.jpegData(compressionQuality: .infinity) != nil && image.jpegData(compressionQuality: -1) != nil)
    let damaged = try #require(UIImage(data: photo(1)))
    #expect(damaged.pngData() == nil && damaged.jpegData(compressionQuality: 1) == nil)
  }

  @Test func `other layouts of pixels, and too few of them, make no image`() throws {
    let provider = try #require(CGDataProvider(data: Data(count: 15)))
    func image(_ bits: Int, info: CGBitmapInfo, provider: CGDataProvider) -> CGImage? {
      CGImage(
        width: 2, height: 2, bitsPerComponent: 8, bitsPerPixel: bits, bytesPerRow: 8,
        space: CGColorSpaceCreateDeviceRGB(), bitmapInfo: info, provider: provider, decode: nil,
        shouldInterpolate: false, intent: .defaultIntent)
    }
    let last = CGBitmapInfo(rawValue: CGImageAlphaInfo.last.rawValue)
    #expect(image(32, info: last, provider: provider) == nil)
    let enough = try #require(CGDataProvider(data: Data(count: 16)))
    #expect(image(32, info: last, provider: enough) != nil && image(24, info: last, provider: enough) == nil)
    #expect(image(32, info: [last, .byteOrder32Little], provider: enough) == nil)
    #expect(image(32, info: CGBitmapInfo(rawValue: CGImageAlphaInfo.first.rawValue), provider: enough) == nil)
  }

  @Test func `a thumbnail has its size, and the bytes of the whole image`() throws {
    let data = try image(300, 200).file
    let source = try #require(CGImageSourceCreateWithData(data as CFData, nil))
    let options =
      [
        kCGImageSourceThumbnailMaxPixelSize: 150, kCGImageSourceCreateThumbnailWithTransform: true,
      ] as CFDictionary
    let thumbnail = try #require(CGImageSourceCreateThumbnailAtIndex(source, 0, options))
    #expect(thumbnail.width == 150 && thumbnail.height == 100 && thumbnail.file == data)
    #expect(UIImage(cgImage: thumbnail).size == CGSize(width: 150, height: 100))
    #expect(UIImage(cgImage: thumbnail, scale: 3).size == CGSize(width: 50, height: 100.0 / 3))
    #expect(CGImageSourceGetType(source) == "public.png" && CGImageSourceGetCount(source) == 1)
    #expect(CGImageSourceGetStatus(source) == .statusComplete)
  }

  @Test func `the properties have the size, and the orientation of a photo`() throws {
    func properties(_ data: Data) throws -> [CFString: Int?]? {
      let source = try #require(CGImageSourceCreateWithData(data as CFData, nil))
      return CGImageSourceCopyPropertiesAtIndex(source, 0, nil)?.mapValues { $0 as? Int }
    }
    let expected = [kCGImagePropertyPixelWidth: 40, kCGImagePropertyPixelHeight: 30, kCGImagePropertyOrientation: 6]
    #expect(try properties(photo(6)) == expected)
    #expect(try properties(photo(9))?[kCGImagePropertyOrientation] == 1)
    #expect(try properties(image(3, 2).file)?[kCGImagePropertyOrientation] == 1)
    #expect(try properties(Data("text".utf8)) == nil)
    for length in 0..<photo(6).count { _ = ExifOrientation.find(in: photo(6).prefix(length)) }
  }

  @Test(.rule("DIAGNOSIS-11")) func `a file is written in the format of its image, and not in another`() async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    let image = try image(2, 2)
    func write(_ type: String) -> Data? {
      let data = NSMutableData()
      guard let destination = CGImageDestinationCreateWithData(data, type as CFString, 1, nil) else { return nil }
      CGImageDestinationAddImage(destination, image, nil)
      return CGImageDestinationFinalize(destination) ? data as Data : nil
    }
    fixture.process.asCurrent {
      #expect(write("public.png") == image.file)
      #expect(write("public.jpeg") == nil)
    }
    let reported = await fixture.sent(FaultNoticed.self).filter { $0.fault == .notSimulated }
    #expect(reported.map(\.subject) == ["CGImageDestinationFinalize"])
  }

  @Test func `an arc of a path turns the shorter or the longer way`() {
    func end(_ clockwise: Bool) -> CGRect {
      let path = CGMutablePath()
      path.addArc(center: .zero, radius: 10, startAngle: 0, endAngle: .pi / 2, clockwise: clockwise)
      return path.boundingBox
    }
    #expect(end(false).minX > -0.001 && end(false).maxY == 10 && end(false).minY == 0)
    #expect(abs(end(true).minX + 10) < 0.001 && abs(end(true).minY + 10) < 0.001)
    let circle = CGMutablePath()
    circle.addArc(center: .zero, radius: 10, startAngle: 0, endAngle: 2 * .pi, clockwise: false)
    for angle in [CGFloat.nan, .infinity, 1e300] {
      let path = CGMutablePath()
      path.addRelativeArc(center: .zero, radius: 10, startAngle: 0, delta: angle)
      UIBezierPath().addArc(withCenter: .zero, radius: 1, startAngle: 0, endAngle: angle, clockwise: true)
    }
    #expect(circle.elements.count == 5 && abs(circle.boundingBox.width - 20) < 0.001)
  }

  @Test func `a colour of another kind of space is converted, and one with colours does not become grey`() {
    let gray = CGColor(gray: 0.5, alpha: 1)
    #expect(gray.converted(to: .deviceRGB, intent: .defaultIntent, options: nil)?.components == [0.5, 0.5, 0.5, 1])
    let red = CGColor(red: 1, green: 0, blue: 0, alpha: 1)
    #expect(red.converted(to: .deviceGray, intent: .defaultIntent, options: nil) == nil)
  }
}
