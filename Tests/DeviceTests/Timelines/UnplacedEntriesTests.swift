// SPDX-License-Identifier: Apache-2.0

import Archive
import BusTesting
import FidelityRules
import Foundation
import MessageBus
import Messages
import Testing
import Timekeeping

@testable import Device
@testable import DeviceRules

private let widget = TimelineSamples.widget
private let origin = TimelineSamples.origin

@Suite(.timeLimit(.minutes(1))) struct `Entries of widgets that are not placed` {
  @Test(.rule("PICTURE-61"), arguments: [RequestTimeline.Purpose.snapshot, .timeline])
  func `the provider is called in the requested environment, and nothing is stored`(
    purpose: RequestTimeline.Purpose
  ) async throws {
    let fixture = try TimelineServiceFixture()
    let service = try await fixture.host(kinds: [])
    try await service.setKinds(widget, [WidgetDeclaration(kind: "Coffee")])
    let process = try await fixture.startExtension { request in
      let environment = request.environment
      let text = "\(request.purpose) \(environment.family) \(environment.renderingMode) \(environment.isPreview)"
      let entries = [2, 1].map { ArchivedEntry(date: origin + $0, view: .text("\(text) \($0)")) }
      return RequestTimeline.Reply(entries: entries, policy: .atEnd)
    }
    async let foundEntries = service.entries(of: "Coffee", .systemLarge, purpose) { placement in
      WidgetEnvironment(family: placement.family, width: 1, height: 1, renderingMode: .accented)
    }
    var processes = service.device.processes.makeAsyncIterator()
    _ = await processes.next()
    await service.awake(widget)
    let entries = try await foundEntries.entries
    let text = "\(purpose) systemLarge accented \(purpose == .snapshot)"
    #expect(entries.map(\.view.lines) == [["\(text) 1.0"], ["\(text) 2.0"]])
    #expect(await service.status().isEmpty)
    await process.leave()
  }

  @Test(.rule("PICTURE-61")) func `a failure of the provider is returned with its reason`() async throws {
    let fixture = try TimelineServiceFixture()
    let service = try await fixture.host(kinds: [])
    try await service.setKinds(widget, [WidgetDeclaration(kind: "Coffee")])
    let process = try await fixture.startExtension { _ in throw BusError(.failed, "the provider failed") }
    async let foundEntries = service.entries(of: "Coffee", .systemSmall, .timeline, in: nil)
    var processes = service.device.processes.makeAsyncIterator()
    _ = await processes.next()
    await service.awake(widget)
    do {
      _ = try await foundEntries
      Issue.record("a failed provider has no entries")
    } catch {
      #expect("\(error)".contains("the provider failed"))
    }
    await process.leave()
  }
}
