// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages

/// The data from which `downloadTask(withResumeData:)` continues: the received part of a file and where it is kept.
///
/// Opaque to authors, who may keep it for any time. It refers to the host's folders only by the name of a part. If the
/// part is no longer kept, the download begins at byte 0.
struct ResumeData: Codable, Hashable, Sendable {
  /// The name of the part in `PartFiles`.
  let part: UUID
  /// `originalRequest` of the interrupted task and of the one that continues it.
  let request: TransferRequest
  /// The head of the response that the bytes belong to.
  let response: TransferResponse
  /// A strong entity tag or a modification date, for `If-Range`.
  let validator: String
  /// The size of the part.
  let bytes: Int64

  /// - Returns: `nil` when the download cannot be resumed: no byte was received, or the response has no validator, is
  ///   not successful or is encoded (documented for `cancel(byProducingResumeData:)`: GET, and an `ETag` or
  ///   `Last-Modified`).
  init?(part: UUID, request: TransferRequest, response: TransferResponse?, validator: String?, bytes: Int64) {
    guard let response, let validator, bytes > 0, request.method == "GET", (200..<300).contains(response.status)
    else { return nil }
    self.part = part
    self.request = request
    self.response = response
    self.validator = validator
    self.bytes = bytes
  }

  /// Decodes the result of `data()`.
  ///
  /// - Returns: `nil` for anything else, such as an author's file, resume data of another version, or a part file.
  init?(data: Data) {
    guard data.starts(with: ResumeData.mark), data.count <= ResumeData.limit,
      let read = try? BodyCoding.decode(ResumeData.self, from: Array(data.dropFirst(ResumeData.mark.count))),
      let checked = ResumeData(
        part: read.part, request: read.request, response: read.response, validator: read.validator, bytes: read.bytes)
    else { return nil }
    self = checked
  }

  /// The encoded form that the author receives.
  ///
  /// - Throws: `malformed-body` when the value cannot be encoded.
  func data() throws(BusError) -> Data { ResumeData.mark + (try BodyCoding.data(self)) }

  /// Distinguishes resume data from other data, and its versions from each other.
  private static let mark = Data("widgetlab-resume-1\n".utf8)
  private static let limit = 16 << 20
}

/// The parts that resume data refers to, in a folder of the host. A part is kept until a task continues it or its time
/// is over.
struct PartFiles: Sendable {
  let folder: String

  /// Moves the part file of an ended task to where resume data refers to it. This is the first step of
  /// `cancel(byProducingResumeData:)`, before the data is returned. A part that no resume data refers to is removed
  /// when its time is over.
  ///
  /// - Parameter now: device time, from which the part's time counts.
  /// - Throws: file system errors. The part is where it was then.
  func keep(_ path: String, as part: UUID, at now: Date) throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try FileManager.default.setAttributes([.modificationDate: now], ofItemAtPath: path)
    try WholeFile.synchronize(path)
    guard rename(path, self.path(part)) == 0 else { throw FileError(path, errno) }
    try WholeFile.synchronizeFolder(of: self.path(part))
    try WholeFile.synchronizeFolder(of: folder)
  }

  /// Moves a kept part to `path`, where a task continues it. A restarted host may repeat it: an existing file at `path`
  /// stays. A part serves one task. A second task with the same data begins at byte 0.
  ///
  /// - Returns: whether the bytes that the data refers to are at `path` now.
  func adopt(_ resume: ResumeData, to path: String) -> Bool {
    if WholeFile.size(path) == 0 {
      let parent = URL(fileURLWithPath: path).deletingLastPathComponent()
      try? FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
      rename(self.path(resume.part), path)
    }
    return WholeFile.size(path) >= resume.bytes
  }

  /// Removes the parts that were kept before `date`.
  func remove(before date: Date) {
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
      let path = "\(folder)/\(name)"
      var status = stat()
      guard stat(path, &status) == 0, Double(status.st_mtim.tv_sec) < date.timeIntervalSince1970 else { continue }
      unlink(path)
    }
  }

  private func path(_ part: UUID) -> String { "\(folder)/\(part.uuidString)" }
}
