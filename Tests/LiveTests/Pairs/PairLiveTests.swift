// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import Foundation
import Testing
import WidgetLabTesting

/// Features that are right alone, and two of them in one cluster. `WIDGETLAB_SEED` repeats the draw of an earlier run,
/// and `WIDGETLAB_PAIRS` runs the pairs whose names contain it.
@Suite(.live, .timeLimit(.live), .postgres) struct `Pairs of features` {
  /// Pairs that were wrong together, and are in each draw.
  private static let repaired: Set = ["a killed broker + a killed push server"]

  @Test func `the story of the demo holds with drawn pairs of features`() async throws {
    let seed = ProcessInfo.processInfo.environment["WIDGETLAB_SEED"].flatMap { UInt64($0) } ?? .random(in: 1...999_999)
    var generator = SplitMix64(seed: seed)
    let table = Feature.table.filter { !$0.needsPostgres || PostgresCluster.isInstalled }
    var pairs = FeaturePair.drawn(BulkFixture.isLong ? .max : 30, of: table, by: &generator)
    let drawn = Set(pairs.map(\.description))
    pairs += FeaturePair.all(of: table).filter {
      Self.repaired.contains($0.description) && !drawn.contains($0.description)
    }
    if let name = ProcessInfo.processInfo.environment["WIDGETLAB_PAIRS"] {
      pairs = FeaturePair.all(of: table).filter { $0.description.contains(name) }
    }
    print("\(pairs.count) pairs of \(table.count) features; WIDGETLAB_SEED=\(seed) repeats them")
    await withTaskGroup(of: Void.self) { group in
      for (index, pair) in pairs.enumerated() {
        if index >= 2 * Turns.processors { await group.next() }
        group.addTask { await Self.run(pair, number: index, seed: seed) }
      }
    }
  }

  private static func run(_ pair: FeaturePair, number: Int, seed: UInt64) async {
    let began = ContinuousClock.now
    do {
      let schema = "pair_\(number)"
      if pair.features.contains(where: \.needsPostgres) {
        try await PostgresTrait.server?.query("CREATE SCHEMA \(schema)")
      }
      try await PairStory.run(pair, database: PostgresTrait.server?.url(schema: schema))
    } catch {
      Issue.record("\(pair) (WIDGETLAB_PAIRS='\(pair)'): \(error)")
    }
    print("pair \(number + 1): \(pair), \(began.duration(to: .now))")
  }

  @Test func `the same seed draws the same pairs, and no feature more than once while there are others`() {
    func draw(_ seed: UInt64) -> [FeaturePair] {
      var generator = SplitMix64(seed: seed)
      return FeaturePair.drawn(30, of: Feature.table, by: &generator)
    }
    #expect(draw(7).map(\.description) == draw(7).map(\.description))
    #expect(draw(7).map(\.description) != draw(8).map(\.description))
    #expect(Feature.table.count >= 40)
    #expect(Set(Feature.table.map(\.name)).count == Feature.table.count)
    #expect(Set(draw(7).flatMap(\.features).map(\.name)).count == min(60, Feature.table.count))
    #expect(draw(7).allSatisfy { $0.first.goesWith($0.second) })
  }
}
