// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages

/// The owner's process gets the file that the host received.
struct FilesIntact: Law {
  let description = LawDescription(
    code: "files-intact", title: "each file has its content",
    statement: "The file that the owner's process passes to didFinishDownloadingTo has the size and the SHA-256 of the "
      + "file that the host received, in every delivery.",
    source:
      "documented: didFinishDownloadingTo passes the downloaded file (URLSessionDownloadDelegate); ours: the hash",
    check: "each call of didFinishDownloadingTo whose transfer is in the journal",
    limits: "What the server sent. Files over 32 MiB, of which only the size is compared. The response of an upload.")

  var findings = LawFindings()

  mutating func see(_ seen: LawEnvelope, _ record: LawRecord) {
    guard case .delegate(let called) = seen.body, called.method == "didFinishDownloadingTo",
      let identifier = called.taskIdentifier
    else { return }
    let task = LawTask(owner: seen.header.source, session: called.session, identifier: identifier)
    // Without an entry it was acknowledged already; another law judges that.
    guard let entry = record.tasks.entries[task] else { return }
    guard let ended = entry.ended, let bytes = entry.bytes, let sha256 = entry.sha256 else {
      let isLost = record.mayHaveLost(from: .host(task.owner.device ?? ""), since: entry.created.header.sequence)
      if !isLost || entry.ended != nil {
        findings.doubt(
          LawFinding(
            "the journal has no hash of the file of \(task) at the host", [Evidence(entry.created), seen.evidence]))
      }
      return
    }
    findings.check(
      called.bytes == bytes && (called.sha256 ?? sha256) == sha256,
      LawFinding(
        "the file of \(task) has \(called.bytes ?? 0) bytes and SHA-256 \(called.sha256 ?? "unknown") in its owner's "
          + "process, and \(bytes) bytes and \(sha256) at the host", [Evidence(ended), seen.evidence]))
    if called.sha256 == nil {
      findings.doubt(LawFinding("the owner's process did not hash the file of \(task)", [seen.evidence]))
    }
  }

  mutating func finish(_ record: LawRecord) {}
}
