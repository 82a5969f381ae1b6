// SPDX-License-Identifier: Apache-2.0

import Archive
import CPlatform
import Foundation
import Glibc
import Synchronization

/// The file of an inline download.
final class DownloadedFile: Sendable {
  /// The resume data of a download: the partial file, and the validator of its version on the server.
  private struct Resume: Codable {
    let url: String
    let method: String
    let headers: [String: String]
    let file: String
    /// `ETag` or `Last-Modified`.
    let validator: String
  }

  private struct State {
    var handle: FileHandle?
    var bytes: Int64 = 0
  }

  let url: URL
  /// The request for the missing rest.
  let rest: URLRequest
  private let state: Mutex<State>

  /// Creates an empty file.
  convenience init() throws(URLError) {
    try self.init(DownloadedFile.fresh(), at: 0, rest: nil)
  }

  /// Copies a stream, which is read on this thread.
  convenience init(copying stream: InputStream) throws(URLError) {
    try self.init()
    stream.open()
    defer { stream.close() }
    var piece = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = stream.read(&piece, maxLength: piece.count)
      guard count >= 0 else { throw URLError(.requestBodyStreamExhausted) }
      if count == 0 { break }
      try append(Data(piece[..<count]))
    }
    state.withLock { state in
      try? state.handle?.close()
      state.handle = nil
    }
  }

  /// Opens the partial file of a task that was cancelled or failed.
  convenience init(resuming data: Data) throws(URLError) {
    guard let resume = try? JSONDecoder().decode(Resume.self, from: data), let target = URL(string: resume.url) else {
      throw URLError(.cannotOpenFile, userInfo: [NSLocalizedDescriptionKey: "not resume data of an inline download"])
    }
    var request = URLRequest(url: target)
    request.httpMethod = resume.method
    request.allHTTPHeaderFields = resume.headers
    let file = URL(fileURLWithPath: resume.file)
    let bytes = (try? FileManager.default.attributesOfItem(atPath: resume.file))?[.size] as? Int ?? 0
    if bytes > 0 {
      request.setValue("bytes=\(bytes)-", forHTTPHeaderField: "Range")
      request.setValue(resume.validator, forHTTPHeaderField: "If-Range")
    }
    try self.init(bytes > 0 ? file : DownloadedFile.fresh(), at: Int64(bytes), rest: request)
  }

  private init(_ url: URL, at bytes: Int64, rest: URLRequest?) throws(URLError) {
    self.url = url
    self.rest = rest ?? URLRequest(url: url)
    do {
      if bytes == 0 { try Data().write(to: url) }
      let handle = try FileHandle(forWritingTo: url)
      try handle.seekToEnd()
      state = Mutex(State(handle: handle, bytes: bytes))
    } catch {
      throw URLError(.cannotCreateFile, userInfo: [NSLocalizedDescriptionKey: "\(url.path): \(error)"])
    }
  }

  private static func fresh() -> URL {
    FileManager.default.temporaryDirectory.appendingPathComponent("CFNetworkDownload_\(UUID().uuidString).tmp")
  }

  /// Returns the offset at which this response's body starts. Truncates the file unless the response is the rest of it.
  func goesOn(with response: URLResponse) -> Int64 {
    let isRest = (response as? HTTPURLResponse)?.statusCode == 206
    return state.withLock { state in
      if !isRest, state.bytes > 0 {
        try? state.handle?.truncate(atOffset: 0)
        state.bytes = 0
      }
      return state.bytes
    }
  }

  /// Appends bytes.
  func append(_ data: Data) throws(URLError) {
    let failure = state.withLock { state -> (any Error)? in
      do {
        try state.handle?.write(contentsOf: data)
        state.bytes += Int64(data.count)
        return nil
      } catch {
        return error
      }
    }
    if let failure { throw URLError(.cannotWriteToFile, userInfo: [NSLocalizedDescriptionKey: "\(failure)"]) }
  }

  /// The resume data for a later task; `nil` when the server sent no strong validator, or when the file is empty.
  func resumeData(of task: URLSessionTask) -> Data? {
    let bytes = state.withLock { $0.bytes }
    guard let response = task.response as? HTTPURLResponse, [200, 206].contains(response.statusCode), bytes > 0,
      let request = task.originalRequest, request.httpMethod == "GET",
      response.value(forHTTPHeaderField: "Accept-Ranges")?.lowercased() != "none",
      let validator = response.value(forHTTPHeaderField: "ETag") ?? response.value(forHTTPHeaderField: "Last-Modified"),
      !validator.hasPrefix("W/")
    else { return nil }
    return try? JSONEncoder().encode(
      Resume(
        url: request.url?.absoluteString ?? "", method: "GET", headers: request.allHTTPHeaderFields ?? [:],
        file: url.path, validator: validator))
  }

  func remove() { try? FileManager.default.removeItem(at: url) }
}

/// The SHA-256 of a downloaded file, for the journal: the law `files-intact` compares it with the host's.
enum FileDigest {
  /// Longer files are not read, since an extension has little time. In bytes.
  static let limit: Int64 = 32 << 20

  /// Returns the size of a file in bytes; `nil` when it does not exist. `FileManager` also reads the names of all users and
  /// groups for the file's attributes.
  static func size(ofFile path: String) -> Int64? {
    var status = stat()
    return stat(path, &status) == 0 ? Int64(status.st_size) : nil
  }

  /// Returns 64 hexadecimal digits; `nil` for a file over the limit, or one that cannot be read.
  static func sha256(ofFile path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, Int64(status.st_size) <= limit else { return nil }
    var digest = [UInt8](repeating: 0, count: 32)
    guard digest_sha256_of_file(descriptor, limit, &digest) == 0 else { return nil }
    return digest.hexadecimal
  }
}
