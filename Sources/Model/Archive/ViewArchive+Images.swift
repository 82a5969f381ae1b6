// SPDX-License-Identifier: Apache-2.0

extension ViewArchive {
  /// The SHA-256 of the bytes of each image in the view, each once, in reading order. The bytes themselves are beside the
  /// archive, so that a timeline has them once.
  package var imageDigests: [String] {
    var digests: [String] = []
    var known: Set<String> = []
    walk { view in
      guard view.name == .leaf(.image), let digest = view.arguments["image"]?.string, known.insert(digest).inserted
      else { return }
      digests.append(digest)
    }
    return digests
  }

  /// The images and colours of the bundle that cannot be shown, with the reasons, each once, in reading order.
  package var assetProblems: [String] {
    var problems: [String] = []
    walk { view in
      var found: [String] = []
      if view.name == .leaf(.image), let problem = view.arguments["problem"]?.string {
        found.append("\(view.arguments["name"]?.string.map { "the image \"\($0)\"" } ?? "an image"): \(problem)")
      }
      for arguments in [view.arguments] + view.modifiers.map(\.arguments) {
        for value in arguments.sorted(by: { $0.key < $1.key }).map(\.value) { found += value.colorProblems }
      }
      for problem in found where !problems.contains(problem) { problems.append(problem) }
    }
    return problems
  }
}

extension ArchivedValue {
  /// The colours in it that an asset catalog lacks. A style is nested as deep as the author's code nests it.
  fileprivate var colorProblems: [String] {
    switch self {
    case .list(let values): return values.flatMap(\.colorProblems)
    case .record(let parts):
      if let name = parts["asset"]?.string {
        return parts["problem"]?.string.map { ["the colour \"\(name)\": \($0)"] } ?? []
      }
      return parts.sorted { $0.key < $1.key }.flatMap(\.value.colorProblems)
    default: return []
    }
  }
}
