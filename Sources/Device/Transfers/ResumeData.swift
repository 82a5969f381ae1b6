package import Conversations
package import Foundation

/// What `downloadTask(withResumeData:)` goes on from: what had come of a file, and where it is kept.
///
/// Opaque to authors, who may hold it as long as they like and hand it in at any time: it says nothing of the host's
/// folders but a name, and a part that is no longer kept makes the download begin at byte 0.
package struct ResumeData: Codable, Hashable, Sendable {
  /// The name of the part in `KeptParts`.
  package let part: UUID
  /// `originalRequest` of the task that was interrupted, and of the one that goes on.
  package let request: TransferRequest
  /// The last request that went out, after redirections; `nil` when it is the original.
  package let currentRequest: TransferRequest?
  /// The head of the response that the bytes belong to.
  package let response: TransferResponse
  /// A strong entity tag or a modification date, as `If-Range` wants it.
  package let validator: String
  /// In the part.
  package let bytes: Int64

  /// - Returns: `nil` when there is nothing to go on from: no byte, or a response that has no validator, was no success
  ///   or came encoded (documented for `cancel(byProducingResumeData:)`: GET, and an `ETag` or `Last-Modified`).
  package init?(
    part: UUID, request: TransferRequest, currentRequest: TransferRequest? = nil, response: TransferResponse?,
    validator: String?, bytes: Int64
  ) {
    guard let response, let validator, bytes > 0, request.method == "GET", (200..<300).contains(response.status)
    else { return nil }
    self.part = part
    self.request = request
    self.currentRequest = currentRequest
    self.response = response
    self.validator = validator
    self.bytes = bytes
  }

  /// Reads what `data` wrote.
  ///
  /// - Returns: `nil` for anything else: a file of the author's, resume data of another version, a part of ours.
  package init?(data: Data) {
    guard data.starts(with: ResumeData.mark), data.count <= ResumeData.limit,
      let read = try? BodyCoding.decode(ResumeData.self, from: Array(data.dropFirst(ResumeData.mark.count))),
      let checked = ResumeData(
        part: read.part, request: read.request, currentRequest: read.currentRequest, response: read.response,
        validator: read.validator, bytes: read.bytes)
    else { return nil }
    self = checked
  }

  /// What the author is handed.
  ///
  /// - Throws: `malformed-body` when the value cannot be written.
  package func data() throws(BusError) -> Data { ResumeData.mark + (try BodyCoding.data(self)) }

  /// So that nothing else is taken for it, and a later version can tell.
  private static let mark = Data("widgetlab-resume-1\n".utf8)
  private static let limit = 16 << 20
}

/// The parts that resume data names, in a folder of the host's: each is there until a task goes on with it, or nobody
/// did in time.
package struct KeptParts: Sendable {
  let folder: String

  package init(folder: String) { self.folder = folder }

  /// Moves the part file of a task that is over to where resume data finds it. The first thing that is done for
  /// `cancel(byProducingResumeData:)`, before the data is given out; a part that no data ever named goes in time.
  ///
  /// - Parameter now: of the device; from it on the part's time counts.
  /// - Throws: the file system's error; then the part is where it was.
  package func keep(_ path: String, as part: UUID, at now: Date) throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try FileManager.default.setAttributes([.modificationDate: now], ofItemAtPath: path)
    guard rename(path, self.path(part)) == 0 else { throw FileError(path, errno) }
  }

  /// Moves a kept part to where a task goes on with it. May be repeated by a host that died meanwhile: what is at `path`
  /// already stays. A part serves one task; a second one with the same data begins at byte 0.
  ///
  /// - Returns: whether the bytes that the data speaks of are at `path` now.
  package func take(_ resume: ResumeData, to path: String) -> Bool {
    if WholeFile.size(path) == 0 {
      let parent = URL(fileURLWithPath: path).deletingLastPathComponent()
      try? FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
      rename(self.path(resume.part), path)
    }
    return WholeFile.size(path) >= resume.bytes
  }

  /// Removes the parts that were kept before `date` and that nobody went on with.
  package func remove(before date: Date) {
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
      let path = "\(folder)/\(name)"
      var status = stat()
      guard stat(path, &status) == 0, Double(status.st_mtim.tv_sec) < date.timeIntervalSince1970 else { continue }
      unlink(path)
    }
  }

  private func path(_ part: UUID) -> String { "\(folder)/\(part.uuidString)" }
}
