// SPDX-License-Identifier: Apache-2.0

@_exported public import Foundation

/// A type of data. Source: `UniformTypeIdentifiers.UTType`. The types that a bundle declares are not read; a type of
/// another identifier conforms to nothing.
public struct UTType: Hashable, Sendable, Codable, CustomStringConvertible {
  public let identifier: String

  /// `nil` for an identifier that the system does not declare.
  public init?(_ identifier: String) {
    guard Self.facts[identifier] != nil else { return nil }
    self.identifier = identifier
  }
  public init(exportedAs identifier: String, conformingTo parentType: UTType? = nil) { self.identifier = identifier }
  public init(importedAs identifier: String, conformingTo parentType: UTType? = nil) { self.identifier = identifier }
  public init?(filenameExtension: String, conformingTo supertype: UTType = .data) {
    let name = filenameExtension.lowercased()
    guard let found = Self.order.first(where: { Self.facts[$0]?.extensions.contains(name) == true }) else { return nil }
    identifier = found
    guard conforms(to: supertype) else { return nil }
  }
  public init?(mimeType: String, conformingTo supertype: UTType = .data) {
    guard let found = Self.order.first(where: { Self.facts[$0]?.mimeType == mimeType.lowercased() }) else { return nil }
    identifier = found
    guard conforms(to: supertype) else { return nil }
  }

  init(known identifier: String) { self.identifier = identifier }

  public var preferredFilenameExtension: String? { Self.facts[identifier]?.extensions.first }
  public var preferredMIMEType: String? { Self.facts[identifier]?.mimeType }
  public var isDeclared: Bool { Self.facts[identifier] != nil }
  public var isPublic: Bool { identifier.hasPrefix("public.") }
  public var isDynamic: Bool { identifier.hasPrefix("dyn.") }
  public var supertypes: Set<UTType> {
    let parents = (Self.facts[identifier]?.parents ?? []).map(UTType.init(known:))
    return parents.reduce(into: Set(parents)) { $0.formUnion($1.supertypes) }
  }
  public var description: String { identifier }

  public func conforms(to type: UTType) -> Bool { self == type || supertypes.contains(type) }
  public func isSubtype(of type: UTType) -> Bool { self != type && conforms(to: type) }
  public func isSupertype(of type: UTType) -> Bool { type.isSubtype(of: self) }

  public init(from decoder: any Decoder) throws {
    identifier = try decoder.singleValueContainer().decode(String.self)
  }
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(identifier)
  }
}

// The types that the system declares. Source: *Uniform Type Identifiers*, *System-Declared Uniform Type Identifiers*.

extension UTType {
  /// What is known of a type.
  struct Facts: Sendable {
    /// The identifiers of the types to which it conforms at once.
    let parents: [String]
    let mimeType: String?
    /// The preferred one first.
    let extensions: [String]

    init(_ parents: String..., mimeType: String? = nil, extensions: String = "") {
      self.parents = parents
      self.mimeType = mimeType
      self.extensions = extensions.split(separator: " ").map(String.init)
    }
  }

  static let order = facts.keys.sorted()

  static let facts: [String: Facts] = [
    "public.item": Facts(),
    "public.content": Facts(),
    "public.composite-content": Facts("public.content"),
    "public.data": Facts("public.item"),
    "public.directory": Facts("public.item"),
    "public.folder": Facts("public.directory"),
    "com.apple.package": Facts("public.directory"),
    "com.apple.bundle": Facts("public.directory"),
    "public.url": Facts("public.data"),
    "public.file-url": Facts("public.url"),
    "public.text": Facts("public.data", "public.content"),
    "public.plain-text": Facts("public.text", mimeType: "text/plain", extensions: "txt text"),
    "public.utf8-plain-text": Facts("public.plain-text"),
    "public.utf16-plain-text": Facts("public.plain-text"),
    "public.delimited-values-text": Facts("public.text"),
    "public.comma-separated-values-text": Facts(
      "public.delimited-values-text", mimeType: "text/csv", extensions: "csv"),
    "public.tab-separated-values-text": Facts(
      "public.delimited-values-text", mimeType: "text/tab-separated-values", extensions: "tsv"),
    "public.rtf": Facts("public.text", mimeType: "text/rtf", extensions: "rtf"),
    "public.html": Facts("public.text", mimeType: "text/html", extensions: "html htm"),
    "public.xml": Facts("public.text", mimeType: "application/xml", extensions: "xml"),
    "public.yaml": Facts("public.text", mimeType: "application/yaml", extensions: "yml yaml"),
    "public.json": Facts("public.text", mimeType: "application/json", extensions: "json"),
    "public.source-code": Facts("public.plain-text"),
    "public.swift-source": Facts("public.source-code", extensions: "swift"),
    "com.apple.property-list": Facts("public.data"),
    "com.apple.xml-property-list": Facts("com.apple.property-list", "public.xml"),
    "com.apple.binary-property-list": Facts("com.apple.property-list"),
    "com.adobe.pdf": Facts("public.data", "public.composite-content", mimeType: "application/pdf", extensions: "pdf"),
    "public.image": Facts("public.data", "public.content"),
    "public.png": Facts("public.image", mimeType: "image/png", extensions: "png"),
    "public.jpeg": Facts("public.image", mimeType: "image/jpeg", extensions: "jpeg jpg jpe"),
    "com.compuserve.gif": Facts("public.image", mimeType: "image/gif", extensions: "gif"),
    "public.tiff": Facts("public.image", mimeType: "image/tiff", extensions: "tiff tif"),
    "com.microsoft.bmp": Facts("public.image", mimeType: "image/bmp", extensions: "bmp"),
    "com.microsoft.ico": Facts("public.image", mimeType: "image/vnd.microsoft.icon", extensions: "ico"),
    "com.apple.icns": Facts("public.image", extensions: "icns"),
    "public.heic": Facts("public.heif", mimeType: "image/heic", extensions: "heic"),
    "public.heif": Facts("public.image", mimeType: "image/heif", extensions: "heif"),
    "org.webmproject.webp": Facts("public.image", mimeType: "image/webp", extensions: "webp"),
    "public.svg-image": Facts("public.image", "public.xml", mimeType: "image/svg+xml", extensions: "svg"),
    "public.camera-raw-image": Facts("public.image"),
    "com.apple.live-photo": Facts(),
    "public.audiovisual-content": Facts("public.data", "public.content"),
    "public.movie": Facts("public.audiovisual-content"),
    "public.video": Facts("public.movie"),
    "public.audio": Facts("public.audiovisual-content"),
    "public.mpeg-4": Facts("public.movie", mimeType: "video/mp4", extensions: "mp4"),
    "com.apple.quicktime-movie": Facts("public.movie", mimeType: "video/quicktime", extensions: "mov qt"),
    "public.mp3": Facts("public.audio", mimeType: "audio/mpeg", extensions: "mp3"),
    "com.microsoft.waveform-audio": Facts("public.audio", mimeType: "audio/vnd.wave", extensions: "wav"),
    "public.aiff-audio": Facts("public.audio", mimeType: "audio/aiff", extensions: "aiff"),
    "public.mpeg-4-audio": Facts("public.audio", mimeType: "audio/mp4", extensions: "m4a"),
    "public.archive": Facts("public.data"),
    "public.zip-archive": Facts("public.archive", mimeType: "application/zip", extensions: "zip"),
    "org.gnu.gnu-zip-archive": Facts("public.archive", mimeType: "application/gzip", extensions: "gz"),
    "public.font": Facts("public.data"),
    "public.vcard": Facts("public.text", mimeType: "text/vcard", extensions: "vcf"),
    "public.calendar-event": Facts("public.data"),
    "public.database": Facts("public.data"),
    "public.executable": Facts("public.data"),
  ]
}

extension UTType {
  public static var item: UTType { UTType(known: "public.item") }
  public static var content: UTType { UTType(known: "public.content") }
  public static var compositeContent: UTType { UTType(known: "public.composite-content") }
  public static var data: UTType { UTType(known: "public.data") }
  public static var directory: UTType { UTType(known: "public.directory") }
  public static var folder: UTType { UTType(known: "public.folder") }
  public static var package: UTType { UTType(known: "com.apple.package") }
  public static var bundle: UTType { UTType(known: "com.apple.bundle") }
  public static var url: UTType { UTType(known: "public.url") }
  public static var fileURL: UTType { UTType(known: "public.file-url") }
  public static var text: UTType { UTType(known: "public.text") }
  public static var plainText: UTType { UTType(known: "public.plain-text") }
  public static var utf8PlainText: UTType { UTType(known: "public.utf8-plain-text") }
  public static var utf16PlainText: UTType { UTType(known: "public.utf16-plain-text") }
  public static var delimitedText: UTType { UTType(known: "public.delimited-values-text") }
  public static var commaSeparatedText: UTType { UTType(known: "public.comma-separated-values-text") }
  public static var tabSeparatedText: UTType { UTType(known: "public.tab-separated-values-text") }
  public static var rtf: UTType { UTType(known: "public.rtf") }
  public static var html: UTType { UTType(known: "public.html") }
  public static var xml: UTType { UTType(known: "public.xml") }
  public static var yaml: UTType { UTType(known: "public.yaml") }
  public static var json: UTType { UTType(known: "public.json") }
  public static var sourceCode: UTType { UTType(known: "public.source-code") }
  public static var swiftSource: UTType { UTType(known: "public.swift-source") }
  public static var propertyList: UTType { UTType(known: "com.apple.property-list") }
  public static var xmlPropertyList: UTType { UTType(known: "com.apple.xml-property-list") }
  public static var binaryPropertyList: UTType { UTType(known: "com.apple.binary-property-list") }
  public static var pdf: UTType { UTType(known: "com.adobe.pdf") }
  public static var image: UTType { UTType(known: "public.image") }
  public static var png: UTType { UTType(known: "public.png") }
  public static var jpeg: UTType { UTType(known: "public.jpeg") }
  public static var gif: UTType { UTType(known: "com.compuserve.gif") }
  public static var tiff: UTType { UTType(known: "public.tiff") }
  public static var bmp: UTType { UTType(known: "com.microsoft.bmp") }
  public static var ico: UTType { UTType(known: "com.microsoft.ico") }
  public static var icns: UTType { UTType(known: "com.apple.icns") }
  public static var heic: UTType { UTType(known: "public.heic") }
  public static var heif: UTType { UTType(known: "public.heif") }
  public static var webP: UTType { UTType(known: "org.webmproject.webp") }
  public static var svg: UTType { UTType(known: "public.svg-image") }
  public static var rawImage: UTType { UTType(known: "public.camera-raw-image") }
  public static var livePhoto: UTType { UTType(known: "com.apple.live-photo") }
  public static var audiovisualContent: UTType { UTType(known: "public.audiovisual-content") }
  public static var movie: UTType { UTType(known: "public.movie") }
  public static var video: UTType { UTType(known: "public.video") }
  public static var audio: UTType { UTType(known: "public.audio") }
  public static var mpeg4Movie: UTType { UTType(known: "public.mpeg-4") }
  public static var quickTimeMovie: UTType { UTType(known: "com.apple.quicktime-movie") }
  public static var mp3: UTType { UTType(known: "public.mp3") }
  public static var wav: UTType { UTType(known: "com.microsoft.waveform-audio") }
  public static var aiff: UTType { UTType(known: "public.aiff-audio") }
  public static var mpeg4Audio: UTType { UTType(known: "public.mpeg-4-audio") }
  public static var archive: UTType { UTType(known: "public.archive") }
  public static var zip: UTType { UTType(known: "public.zip-archive") }
  public static var gzip: UTType { UTType(known: "org.gnu.gnu-zip-archive") }
  public static var font: UTType { UTType(known: "public.font") }
  public static var vCard: UTType { UTType(known: "public.vcard") }
  public static var calendarEvent: UTType { UTType(known: "public.calendar-event") }
  public static var database: UTType { UTType(known: "public.database") }
  public static var executable: UTType { UTType(known: "public.executable") }
}
