// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
package import PrometheusMetrics

/// The metrics of stored and delivered notifications. Any thread may read.
package final class DeliveryMetrics: Sendable {
  private let accepted = LabeledCounters(PushType.allCases)
  private let steps = LabeledCounters(PushStep.Name.allCases)
  private let batches = Counter()
  private let commits = Histogram()
  private let deliveries = Histogram(bounds: Histogram.deliveryBounds)

  package init() {}

  func accept(_ type: PushType) { accepted[type]?.add() }

  /// Counts a step, and measures the time from the acceptance to the delivery.
  func count(_ name: PushStep.Name, at date: Date = .distantPast, acceptedAt: Date? = nil) {
    steps[name]?.add()
    if name == .delivered, let acceptedAt { deliveries.observe(seconds: date.timeIntervalSince(acceptedAt)) }
  }

  func commit(_ duration: Duration) {
    batches.add()
    commits.observe(duration)
  }

  /// The current values.
  package var families: [MetricFamily] {
    [
      .counter(
        "widgetlab_push_accepted_total", "Notifications that were accepted, by push type.", by: "type", accepted,
        \.rawValue),
      .counter(
        "widgetlab_push_steps_total",
        "Steps of notifications in the delivery log, by name; `delivered` is on the device.",
        by: "step", steps, \.rawValue),
      .counter("widgetlab_push_batches_total", "Transactions of the push store.", batches),
      .histogram(
        "widgetlab_push_commit_duration_seconds", "The time of a transaction of the push store.", commits),
      .histogram(
        "widgetlab_push_delivery_duration_seconds", "The time from the acceptance of a notification to its delivery.",
        deliveries),
    ]
  }
}
