// SPDX-License-Identifier: Apache-2.0

package import Archive
import AuthorRuntime

/// A gradient between points of a grid. Source: `SwiftUI.MeshGradient`.
///
/// A picture has a linear gradient of the colours in the middle column instead, from the first row to the last: the
/// diagnosis `not-simulated` names it.
nonisolated public struct MeshGradient: ShapeStyle, View, ArchivedView, ArchivedStyle, Sendable {
  public typealias Body = Never
  private let gradient: LinearGradient

  /// - Parameters:
  ///   - points: of the grid, row by row, from 0 to 1.
  ///   - colors: one for each point.
  public init(
    width: Int, height: Int, points: [SIMD2<Float>], colors: [Color], background: Color = .clear,
    smoothsColors: Bool = true
  ) {
    HostedProcess.current?.noticeUnsimulated("MeshGradient", "a picture has a linear gradient from top to bottom")
    let middles = (0..<max(height, 0)).map { $0 * width + width / 2 }
    let stops = middles.filter { points.indices.contains($0) && colors.indices.contains($0) }.map { index in
      Gradient.Stop(color: colors[index], location: CGFloat(points[index].y))
    }
    gradient = LinearGradient(stops: stops, startPoint: .top, endPoint: .bottom)
  }

  package var archived: ArchivedValue { gradient.archived }
  package func archive(in context: ArchivingContext) -> ViewArchive { gradient.archive(in: context) }
}
