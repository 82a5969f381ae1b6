// SPDX-License-Identifier: Apache-2.0

import Archive
package import Foundation
import Synchronization

/// The closures in one form of a view that need a size, such as the content of `GeometryReader`. They are numbered in the
/// order of the archive, those within another closure below its number, and called with the sizes that the host found.
@MainActor package final class ArchivedClosures {
  private let sizes: [String: CGSize]
  private let prefix: String
  /// How many are numbered. A body that is evaluated again numbers its closures again.
  var count = 0

  /// - Parameter sizes: in points, by the identifiers of the closures.
  package init(sizes: [String: CGSize] = [:]) {
    self.sizes = sizes
    prefix = ""
  }

  private init(_ outer: ArchivedClosures, within identifier: String) {
    sizes = outer.sizes
    prefix = identifier + "."
  }

  /// Whether the view has such a closure.
  package var isEmpty: Bool { count == 0 }

  /// Numbers a closure.
  ///
  /// - Returns: its identifier, and its size if the host found one.
  func add() -> (identifier: String, size: CGSize?) {
    count += 1
    let identifier = prefix + "\(count)"
    return (identifier, sizes[identifier])
  }

  /// The closures within a closure.
  func within(_ identifier: String) -> ArchivedClosures { ArchivedClosures(self, within: identifier) }
}

extension ArchivingContext {
  /// Numbers a closure that needs a size. Its context proposes that size to the views of the closure.
  ///
  /// - Returns: the identifier, `nil` where closures are called once, and the size: that of the layout, or else the one
  ///   that is proposed here.
  @MainActor package func enterClosure() -> (identifier: String?, size: CGSize, context: ArchivingContext) {
    guard let closures = environment.closures else { return (nil, environment.proposedSize, self) }
    let (identifier, found) = closures.add()
    var inner = self
    if let found { inner.environment.proposedSize = found }
    inner.environment.closures = closures.within(identifier)
    return (identifier, inner.environment.proposedSize, inner)
  }
}

/// The bytes of the images of one timeline, each once, by their SHA-256. Any thread.
package final class ArchivedImages: Sendable {
  /// What the archive says about an image.
  struct Facts: Hashable, Sendable {
    let digest: String
    let content: Content
    /// Why it cannot be drawn; `nil` if it can.
    var damage: String?
  }

  /// What the bytes of a file are.
  enum Content: Hashable, Sendable {
    case pixels(ImageFile)
    case vector(VectorFile)
    case symbol(SymbolTemplate)
  }

  /// The images at one moment.
  struct State: Sendable {
    fileprivate var bytes: [String: Data] = [:]
    fileprivate var total = 0
    /// The result for each file that was read.
    fileprivate var files: [URL: Result<Facts, ImageProblem>] = [:]
  }

  private let state = Mutex(State())

  package init() {}

  /// Those that there are now.
  var current: State { state.withLock { $0 } }

  /// Removes those that were added since a moment.
  func restore(_ former: State) { state.withLock { $0 = former } }

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

extension ArchivedImages.Content {
  /// Why the bytes after the header cannot be drawn; `nil` if they can.
  func damage(in data: Data) -> ImageFault? {
    switch self {
    case .pixels(let file): file.damage(in: data)
    // They have been read to their end.
    case .vector, .symbol: nil
    }
  }

  /// The arguments of an image that are its size. An SVG image has the pixels that a device makes of it. A symbol has
  /// the width of each of its variants, in heights of the capital letters.
  ///
  /// - Parameters:
  ///   - scale: of the file.
  ///   - display: pixels per point of the device.
  func arguments(scale: Double, display: Double) -> ArchivedArguments {
    switch self {
    case .pixels(let file):
      return [
        .pixelWidth: file.width.archived, .pixelHeight: file.height.archived,
        .scale: scale == 1 ? nil : scale.archived,
      ]
    case .vector(let file):
      let factor = display / scale
      return [
        .pixelWidth: (file.width * factor).archived, .pixelHeight: (file.height * factor).archived,
        .scale: display.archived,
      ]
    case .symbol(let template):
      let widths = template.variants.map { ($0.id, (template.width(of: $0) ?? 0).archived) }
      return [.symbol: .record(ArchivedArguments(values: Dictionary(widths) { $1 }))]
    }
  }
}
