// SPDX-License-Identifier: Apache-2.0

package import PrometheusMetrics

/// The metrics of a broker. Its thread counts a batch of messages at a time; any thread may read.
package final class BrokerMetrics: Sendable {
  let batches = Counter()
  let records = Counter()
  let recordBytes = Counter()
  let forwarded = Counter()
  let unsent = Counter()
  let refused = Gauge()
  let accepted = Counter()
  let rejectedKeys = Counter()
  let busy = Counter()
  let appends = Histogram(bounds: [0.000_01, 0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.01, 0.1, 1, 10])
  let peers = Gauge()
  let connections = Gauge()
  let viewers = Gauge()
  let isStalled = Gauge()
  let generation = Gauge()

  package init() {}

  /// The current values.
  package var families: [MetricFamily] {
    [
      .counter("widgetlab_bus_batches_total", help: "Batches of messages that the broker has written.", batches),
      .counter("widgetlab_bus_records_total", help: "Envelopes that the broker has written to the journal.", records),
      .counter(
        "widgetlab_bus_record_bytes_total", help: "The bytes of the envelopes that were written to the journal.",
        recordBytes),
      .counter("widgetlab_bus_forwarded_total", help: "Envelopes that were forwarded to a peer.", forwarded),
      .counter(
        "widgetlab_bus_unsent_total",
        help: "Envelopes that could not be sent, since the peer is gone or does not read.",
        unsent),
      .counter(
        "widgetlab_bus_refused_total",
        help: "Messages that the broker refused: malformed, or not permitted to their sender.",
        [.init(Double(refused.value))]),
      .counter(
        "widgetlab_bus_busy_total",
        help: "Messages that were rejected with busy, since the journal could not be written.",
        busy),
      .counter("widgetlab_bus_connections_accepted_total", help: "Connections that were accepted.", accepted),
      .counter(
        "widgetlab_bus_keys_rejected_total", help: "Connections that were rejected for their key.", rejectedKeys),
      .histogram(
        "widgetlab_bus_append_duration_seconds",
        help: "The time to write a batch to the journal, before it is forwarded.",
        appends),
      .gauge("widgetlab_bus_peers", help: "Addresses that are connected.", Double(peers.value)),
      .gauge("widgetlab_bus_connections", help: "Open connections, also at the tap.", Double(connections.value)),
      .gauge("widgetlab_bus_viewers", help: "Open connections at the tap.", Double(viewers.value)),
      .gauge(
        "widgetlab_bus_journal_stalled",
        help: "1 while the journal cannot be written and nothing is forwarded, otherwise 0.",
        Double(isStalled.value)),
      .gauge(
        "widgetlab_bus_generation", help: "The generation of the broker: higher after each start.",
        Double(generation.value)),
    ]
  }
}
