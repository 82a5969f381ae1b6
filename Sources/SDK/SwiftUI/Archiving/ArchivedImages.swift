// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Synchronization

/// The bytes of the images of one timeline, each once, by their SHA-256. Any thread.
package final class ArchivedImages: Sendable {
  /// What the archive says about an image.
  struct Facts: Hashable, Sendable {
    let digest: String
    let file: ImageFile
    /// Why it cannot be drawn; `nil` if it can.
    var damage: String?
  }

  private struct State {
    var bytes: [String: Data] = [:]
    var total = 0
    /// The result for each file that was read.
    var files: [URL: Result<Facts, ImageProblem>] = [:]
  }

  private let state = Mutex(State())

  package init() {}

  /// The bytes by their SHA-256.
  package var bytes: [String: Data] { state.withLock { $0.bytes } }

  /// Bytes of all images.
  package var total: Int { state.withLock { $0.total } }

  /// Stores the bytes of an image.
  func add(_ data: Data, digest: String) {
    state.withLock { state in
      guard state.bytes.updateValue(data, forKey: digest) == nil else { return }
      state.total += data.count
    }
  }

  /// The result for a file; `read` makes it at the first use.
  func facts(of file: URL, _ read: () -> Result<Facts, ImageProblem>) -> Result<Facts, ImageProblem> {
    if let known = state.withLock({ $0.files[file] }) { return known }
    let result = read()
    state.withLock { $0.files[file] = result }
    return result
  }
}

/// Why an image is archived without its pixels, as a screen and a picture say it.
struct ImageProblem: Error, Hashable {
  let text: String
}
