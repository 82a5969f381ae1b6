// SPDX-License-Identifier: Apache-2.0

extension ViewArchive {
  /// The SHA-256 of the bytes of each image in the view, each once, in reading order. The bytes themselves are beside the
  /// archive, so that a timeline has them once.
  package var imageDigests: [String] {
    var digests: [String] = []
    var known: Set<String> = []
    walk { view in
      guard view.name == "Image", let digest = view.arguments["image"]?.string, known.insert(digest).inserted else {
        return
      }
      digests.append(digest)
    }
    return digests
  }
}
