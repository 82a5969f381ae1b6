// SPDX-License-Identifier: Apache-2.0

import APNs
import APNsServer
import Messages
package import PrometheusMetrics
import PushDelivery
import Synchronization

/// The metrics of the requests of providers, and of the whole push server. Any thread may read.
package final class ProviderMetrics: Sendable {
  let delivery = DeliveryMetrics()
  private let accepted = Counter()
  private let refused = LabeledCounters(APNsReason.allCases.map(\.rawValue))
  /// Reasons that an operator has set, and those of broadcasts.
  private let refusedOtherwise = Counter()
  private let durations = Histogram()
  private let parts = Mutex(Parts())

  private struct Parts {
    var servers: [(environment: PushEnvironment, server: APNsHTTP2Server)] = []
    var service: PushDeliveryService?
  }

  package init() {}

  /// Adds what is counted elsewhere.
  func observe(_ servers: [PushEnvironment: APNsHTTP2Server], _ service: PushDeliveryService) {
    parts.withLock {
      $0.servers = servers.map { ($0.key, $0.value) }.sorted { $0.environment.rawValue < $1.environment.rawValue }
      $0.service = service
    }
  }

  /// Counts a response.
  ///
  /// - Parameter duration: from the request to the response, which for an accepted push follows the write.
  func count(status: Int, reason: String?, after duration: Duration) {
    switch reason {
    case nil where status == 200: accepted.add()
    case let reason?: (refused[reason] ?? refusedOtherwise).add()
    case nil: refusedOtherwise.add()
    }
    durations.observe(duration)
  }

  private var responses: MetricFamily {
    let named = refused.keys.map {
      MetricFamily.Sample(Double(refused[$0]?.value ?? 0), [MetricLabel("reason", $0)])
    }
    return .counter(
      "widgetlab_push_responses_total", help: "Responses to providers, by reason; `ok` is a 200.",
      [.init(Double(accepted.value), [MetricLabel("reason", "ok")])] + named
        + [.init(Double(refusedOtherwise.value), [MetricLabel("reason", "other")])])
  }

  /// One sample for each environment.
  private func samples(_ value: (APNsHTTP2Server.Counters) -> Int) -> [MetricFamily.Sample] {
    parts.withLock(\.servers).map { environment, server in
      MetricFamily.Sample(Double(value(server.counters)), [MetricLabel("environment", environment.rawValue)])
    }
  }

  /// The current values.
  package var families: [MetricFamily] {
    let waitingCount = parts.withLock(\.service)?.waitingCount ?? 0
    return [
      .counter(
        "widgetlab_push_requests_total", help: "Requests of providers, by environment.", samples(\.requests)),
      responses,
      .histogram(
        "widgetlab_push_response_duration_seconds",
        help: "The time from a request to its response; a 200 follows the write to the disk.", durations),
      .gauge("widgetlab_push_queued_requests", help: "Requests that wait to be written.", Double(waitingCount)),
      .gauge(
        "widgetlab_push_connections", help: "Open connections of providers, by environment.", samples(\.connections)),
      .counter(
        "widgetlab_push_connections_accepted_total", help: "Connections that were accepted, by environment.",
        samples(\.accepted)),
      .counter(
        "widgetlab_push_connections_refused_total", help: "Connections beyond the limit, by environment.",
        samples(\.turnedAway)),
    ] + delivery.families
  }
}
