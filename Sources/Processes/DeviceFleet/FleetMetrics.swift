// SPDX-License-Identifier: Apache-2.0

import Messages
package import PrometheusMetrics

/// The metrics of a fleet, since the process started. The service counts, and any thread may read.
package final class FleetMetrics: Sendable {
  private let devices = Gauge()
  private let installed = Gauge()
  private let online = Gauge()
  private let asleep = Gauge()
  private let activities = Gauge()
  private let tokens: [(phase: String, gauge: Gauge)] = ["wanted", "issued", "registered", "ending"].map {
    ($0, Gauge())
  }
  private let events = Counter()
  private let batches = Counter()
  private let delivered = LabeledCounters(PushType.allCases)
  private let repeated = LabeledCounters(PushType.allCases)
  private let refused = LabeledCounters(["offline", "expired", "no-such-token", "other"])
  private let deliveries = Histogram(bounds: Histogram.deliveryBounds)
  private let registrations = LabeledCounters(["registered", "retried", "refused"])
  private let registrationTimes = Histogram()

  package init() {}

  /// What changes with the devices' day.
  ///
  /// - Parameters:
  ///   - online: 0 while the operator has taken the network.
  ///   - events: since the last call.
  func set(_ devices: Int, _ tally: FleetTally, online: Int, activities: Int, events: Int) {
    self.devices.set(devices)
    installed.set(tally.installed)
    self.online.set(online)
    asleep.set(devices - tally.awake)
    self.activities.set(activities)
    self.events.add(events)
    let tokens = tally.state
    for (gauge, value) in zip(
      self.tokens.map(\.gauge), [tokens.wanted, tokens.issued, tokens.registered, tokens.ending])
    {
      gauge.set(value)
    }
  }

  func countBatch() { batches.add() }

  /// Counts a notification that is on the disk.
  func countDelivered(_ type: PushType, after seconds: Double) {
    delivered[type]?.add()
    deliveries.observe(seconds: seconds)
  }

  /// Counts a notification that was received again.
  func countRepeated(_ type: PushType) { repeated[type]?.add() }

  func countRefused(_ code: BusError.Code) { (refused[code.rawValue] ?? refused["other"])?.add() }

  /// Counts the registration of a token: `registered`, `retried` or `refused`.
  func countRegistration(_ result: String) { registrations[result]?.add() }

  func observeRegistration(seconds: Double) { registrationTimes.observe(seconds: seconds) }

  /// The current values.
  package var families: [MetricFamily] {
    [
      .gauge("widgetlab_fleet_devices", help: "Devices of the fleet.", Double(devices.value)),
      .gauge("widgetlab_fleet_installed_devices", help: "Devices that have the app.", Double(installed.value)),
      .gauge("widgetlab_fleet_online_devices", help: "Devices that can be reached.", Double(online.value)),
      .gauge("widgetlab_fleet_asleep_devices", help: "Devices that are asleep.", Double(asleep.value)),
      .gauge("widgetlab_fleet_live_activities", help: "Live Activities on the devices.", Double(activities.value)),
      .gauge(
        "widgetlab_fleet_tokens", help: "Device tokens, by what is still to be done with them.",
        tokens.map { MetricFamily.Sample(Double($0.gauge.value), [MetricLabel("phase", $0.phase)]) }),
      .counter("widgetlab_fleet_events_total", help: "Events of the devices' days.", events),
      .counter("widgetlab_fleet_batches_total", help: "Batches of notifications that the fleet has received.", batches),
      .counter(
        "widgetlab_fleet_delivered_total", help: "Notifications on the disk of the fleet, each once, by push type.",
        by: "type", counters: delivered, text: \.rawValue),
      .counter(
        "widgetlab_fleet_repeated_total", help: "Notifications that were received again and recognised, by push type.",
        by: "type", counters: repeated, text: \.rawValue),
      .counter(
        "widgetlab_fleet_refused_total", help: "Notifications that a device did not take, by reason.", by: "reason",
        counters: refused,
        text: \.self),
      .histogram(
        "widgetlab_fleet_delivery_duration_seconds",
        help: "The time from the acceptance by the push server to the disk of the fleet.", deliveries),
      .counter(
        "widgetlab_fleet_registrations_total", help: "Registrations of tokens with the backend, by result.",
        by: "result",
        counters: registrations, text: \.self),
      .histogram(
        "widgetlab_fleet_registration_duration_seconds",
        help: "The time from the first attempt to register a token to the answer.", registrationTimes),
    ]
  }
}
