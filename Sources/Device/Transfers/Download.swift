import AsyncHTTPClient
import Conversations
import Foundation
import NIOCore
import NIOHTTP1

/// One task's download into its part file. The length of the file is the truth about how far it is.
struct Download: Sendable {
  let key: TaskKey
  let request: TransferRequest
  let additionalHeaders: [[String]]
  let path: String
  let client: HTTPClient
  /// Told what happens, with the bytes in the file.
  let report: @Sendable (TransferProgress.Step, Int64) -> Void
  /// Told how many bytes are in the file now, and of how many (-1 when the server did not say).
  let counted: @Sendable (Int64, Int64) -> Void
  /// Puts the head of a response on disk, before the first byte of its body.
  let setHead: @Sendable (TransferResponse?, String?) async throws -> Void

  /// What an attempt has before it begins.
  struct Known: Sendable {
    var response: TransferResponse?
    var validator: String?
  }

  /// Asks once, from where the file ends, and writes what comes.
  ///
  /// - Parameter limit: seconds until the whole attempt must be over.
  /// - Returns: the head of the response that the file belongs to.
  /// - Throws: `FailedForGood` for what another attempt cannot mend, anything else for what it may.
  @concurrent func attempt(knowing known: Known, limit: Double) async throws -> TransferResponse {
    let part = StoredPart(
      bytes: WholeFile.size(path), validator: known.validator, expectedLength: known.response?.expectedLength ?? -1)
    if let response = known.response, part.expectedLength > 0, part.bytes == part.expectedLength { return response }
    let file = try open()
    defer { try? file.close() }
    if part.resumesAt > 0 {
      report(.resumed, part.bytes)
    } else {
      try file.truncate(atOffset: 0)
      report(part.bytes > 0 ? .restarted : .started, 0)
    }
    let response = try await execute(part, limit)
    let headers = response.headers.map { [$0.name, $0.value] }
    var head = self.head(response, headers)
    // The file was cut off already when there was nothing to resume.
    let bytesKept = StoredPart(
      bytes: part.resumesAt, validator: part.validator, expectedLength: part.expectedLength)
    switch ResponseVerdict(status: Int(response.status.code), headers: headers, part: bytesKept) {
    case .append:
      try file.seekToEnd()
      head = known.response ?? head
    case .begin(let discarding):
      try file.truncate(atOffset: 0)
      try await setHead(head, HeaderList(headers).validator)
      if discarding { report(.restarted, 0) }
    case .again:
      try file.truncate(atOffset: 0)
      try await setHead(nil, nil)
      throw RangeRefused()
    }
    var count = try Int64(file.offset())
    for try await piece in response.body {
      try file.write(contentsOf: Data(piece.readableBytesView))
      count += Int64(piece.readableBytes)
      counted(count, head.expectedLength)
    }
    let bytes = WholeFile.size(path)
    guard head.expectedLength < 0 || request.method == "HEAD" || bytes == head.expectedLength else {
      throw WrongLength(expected: head.expectedLength, got: bytes)
    }
    return head
  }

  private func open() throws -> FileHandle {
    let url = URL(fileURLWithPath: path)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    let descriptor = Foundation.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw FileError(path, errno) }
    return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  private func execute(_ part: StoredPart, _ limit: Double) async throws -> HTTPClientResponse {
    var outgoing = HTTPClientRequest(url: request.url)
    outgoing.method = HTTPMethod(rawValue: request.method)
    // The request's own headers go before those of the session's configuration.
    let own = Set(request.headers.compactMap { $0.first?.lowercased() })
    let added = additionalHeaders.filter { $0.first.map { !own.contains($0.lowercased()) } ?? false }
    for pair in request.headers + added where pair.count == 2 { outgoing.headers.add(name: pair[0], value: pair[1]) }
    for (name, value) in part.rangeHeaders { outgoing.headers.replaceOrAdd(name: name, value: value) }
    if let failure = Download.refusal(of: request.url) { throw FailedForGood(failure: failure) }
    do {
      return try await client.execute(outgoing, deadline: .now() + .milliseconds(Int64(min(limit, 1e9) * 1000)))
    } catch let error as HTTPClientError where error == .redirectLimitReached || error == .redirectCycleDetected {
      throw FailedForGood(failure: TransferFailure(code: -1007, message: "too many redirects: \(request.url)"))
    }
  }

  private func head(_ response: HTTPClientResponse, _ headers: [[String]]) -> TransferResponse {
    TransferResponse(
      url: response.url?.absoluteString ?? request.url, status: Int(response.status.code), headers: headers,
      expectedLength: HeaderList(headers)["content-length"].flatMap { Int64($0) } ?? -1)
  }

  /// Why a URL can never be had, as `NSURLError` knows it.
  private static func refusal(of url: String) -> TransferFailure? {
    guard let parsed = URL(string: url), let scheme = parsed.scheme?.lowercased() else {
      return TransferFailure(code: -1000, message: "bad URL: \(url)")
    }
    // A background session knows HTTP and HTTPS only (documented).
    guard scheme == "http" || scheme == "https" else {
      return TransferFailure(code: -1002, message: "unsupported URL: \(url)")
    }
    guard let host = parsed.host(), !host.isEmpty else {
      return TransferFailure(code: -1000, message: "bad URL: \(url)")
    }
    return nil
  }
}

/// Another attempt would end the same.
struct FailedForGood: Error {
  let failure: TransferFailure
}

/// The server cannot give the rest of the file; the next attempt asks for the whole.
struct RangeRefused: Error, CustomStringConvertible {
  var description: String { "the server cannot resume" }
}

/// The connection ended before the whole file had come.
struct WrongLength: Error, CustomStringConvertible {
  let expected: Int64
  let got: Int64
  var description: String { "got \(got) bytes of \(expected)" }
}
