// SPDX-License-Identifier: Apache-2.0

package import Archive
public import SwiftUI

/// The plot of a chart: its grid lines and marks, without axes and legend. Source: `Charts.ChartPlotContent`.
nonisolated public struct ChartPlotContent: View, ArchivedView, Sendable {
  public typealias Body = Never
  package func archive(in context: ArchivingContext) -> ViewArchive { ViewArchive(.chart(.chartPlotContent)) }
}

extension View {
  /// Puts the modifiers of the author around the plot of each chart in this view. Source: `SwiftUI.View` in Charts.
  nonisolated public func chartPlotStyle<Content: View>(
    @ViewBuilder content: @escaping (ChartPlotContent) -> Content
  ) -> some View {
    transformEnvironment(\.chart) { $0.plotStyle = content }
  }
}

extension ChartSettings {
  /// What the author puts around the plot, as a modifier of the archived chart.
  @MainActor func archivedPlotStyle(in context: ArchivingContext) throws(ArchiveRefusal) -> [ViewArchive.Modifier] {
    guard let plotStyle else { return [] }
    let plot = context.environment.during { plotStyle(ChartPlotContent()) }
    return [ViewArchive.Modifier(.shape(.chartPlotStyle), views: [try context.archive(of: plot)])]
  }
}
