/// A view as the extension archived it: what the host keeps, draws and prints without the author's code.
package indirect enum ViewArchive: Codable, Hashable, Sendable {
  case empty
  case text(String)
  case group([ViewArchive])
  /// A view with a modifier that the archive keeps by name, such as `font`.
  case modified(ViewArchive, name: String, value: String)

  /// The texts in it, in reading order.
  package var lines: [String] {
    switch self {
    case .empty: []
    case .text(let text): [text]
    case .group(let children): children.flatMap(\.lines)
    case .modified(let content, _, _): content.lines
    }
  }
}
