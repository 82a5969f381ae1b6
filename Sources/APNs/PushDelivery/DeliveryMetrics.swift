// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
package import PrometheusMetrics
import PushRules

/// The metrics of stored and delivered notifications. Any thread may read.
package final class DeliveryMetrics: Sendable {
  private let accepted = LabeledCounters(PushType.allCases)
  private let steps = LabeledCounters(PushStep.Name.allCases)
  private let batches = Counter()
  private let commits = Histogram()
  private let deliveries = Histogram(bounds: Histogram.deliveryBounds)

  package init() {}

  /// Counts what is on disk with a batch.
  func count(_ batch: PushDeliveryService.Batch) {
    batches.add()
    for request in batch.changes.requests {
      switch request.arrival.verdict {
      case .refused: steps[.refused]?.add()
      case .accepted(let notification, _):
        steps[.accepted]?.add()
        accepted[notification.type]?.add()
      }
      if let next = request.next { steps[next.name]?.add() }
    }
    for (_, step) in batch.changes.steps { steps[step.name]?.add() }
    for progress in batch.changes.progress { steps[progress.step.name]?.add() }
    for seconds in batch.deliveries { deliveries.observe(seconds: seconds) }
  }

  /// Performs the write of a transaction, and measures its time.
  static func measuring<Result>(_ metrics: DeliveryMetrics?, _ write: () throws -> Result) rethrows -> Result {
    guard let metrics else { return try write() }
    let began = ContinuousClock.now
    defer { metrics.commits.observe(ContinuousClock.now - began) }
    return try write()
  }

  /// The current values.
  package var families: [MetricFamily] {
    [
      .counter(
        "widgetlab_push_accepted_total", help: "Notifications that were accepted, by push type.", by: "type",
        counters: accepted,
        text: \.rawValue),
      .counter(
        "widgetlab_push_steps_total",
        help: "Steps of notifications in the delivery log, by name; `delivered` is on the device.",
        by: "step", counters: steps, text: \.rawValue),
      .counter("widgetlab_push_batches_total", help: "Transactions of the push store.", batches),
      .histogram(
        "widgetlab_push_commit_duration_seconds", help: "The time of a transaction of the push store.", commits),
      .histogram(
        "widgetlab_push_delivery_duration_seconds",
        help: "The time from the acceptance of a notification to its delivery.",
        deliveries),
    ]
  }
}

extension PushDeliveryService {
  /// The number of providers' requests that wait to be written.
  package nonisolated var waitingCount: Int { inbox.waitingCount }
}
