// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation

/// What `widgetlab run --watch` does while the cluster runs.
struct WatchedBuild: Sendable {
  let watch: SourceWatch
  /// Builds what has changed.
  let build: @Sendable () async throws -> PackageBuild

  init(watch: SourceWatch, build: @escaping @Sendable () async throws -> PackageBuild) {
    (self.watch, self.build) = (watch, build)
  }

  init(_ package: OwnPackage) throws {
    let swift = try SwiftTool()
    self.init(watch: SourceWatch([package.folder])) { try await package.again(swift) }
  }

  /// Builds after each change, and updates the cluster. What cannot be built leaves it as it is. Returns when the task is
  /// cancelled.
  func follow(_ cluster: ClusterFacts) async {
    let folders = watch.roots.map { ShownPath.of($0) }.joined(separator: ", ")
    let count = await watch.count
    Output.print("watching \(count == 1 ? "1 file" : "\(count) files") in \(folders)")
    let configuration = FileManager.default.contents(atPath: cluster.configurationPath)
    while let changed = await watch.next() {
      Output.print("changed: \(Self.names(of: changed))")
      do {
        let began = ContinuousClock.now
        var built = try await build()
        if built.isBuilt, built.forgetsObjects(of: changed) { built = try await build() }
        guard built.isBuilt else {
          Output.printError("\(built.summary): the widgets stay as they are")
          continue
        }
        Output.print("built in \(PackageBuild.time(since: began))")
        try await ProjectScreen.update(cluster)
        if FileManager.default.contents(atPath: cluster.configurationPath) != configuration {
          Output.print("\(ShownPath.of(cluster.configurationPath)) has changed: run this command again to use it")
        }
      } catch is CancellationError {
        return
      } catch {
        Output.printText("\(error)", isError: true)
      }
    }
  }

  private static func names(of paths: [String]) -> String {
    let rest = paths.count - 3
    return paths.prefix(3).map { ShownPath.of($0) }.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
  }
}
