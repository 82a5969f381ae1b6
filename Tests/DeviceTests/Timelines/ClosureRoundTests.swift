// SPDX-License-Identifier: Apache-2.0

import Archive
import BusTesting
import FidelityRules
import Foundation
import MessageBus
import Messages
import Synchronization
import Testing
import Timekeeping

@testable import Device
@testable import DeviceRules

private let widget = TimelineSamples.widget
private let origin = TimelineSamples.origin

/// The host has the closures of a reply called again, with the sizes of its layout.
@Suite(.timeLimit(.minutes(1))) struct `Closures of a reply` {
  /// The widths with which the closures of an entry were called.
  private func entry(_ widths: [Double], _ offset: Double = 0) -> ArchivedEntry {
    let views = widths.enumerated().map { index, width in
      ViewArchive(.container(.geometryReader), [.closure: .string("\(index + 1)"), .width: .number(width)])
    }
    return ArchivedEntry(date: origin + offset, view: .group(views + [.text("\(widths)")]))
  }

  /// A layout in which the closures have these widths.
  private func layout(_ widths: [Double]) -> @Sendable (ArchivedEntry, WidgetEnvironment) async -> [ClosureSizes] {
    { entry, environment in
      #expect(environment.width == 155)
      var sizes: [String: ClosureSizes.Size] = [:]
      for (view, width) in zip(entry.view.children, widths) where view.name == .container(.geometryReader) {
        guard let closure = view.arguments[.closure]?.string, view.arguments[.width]?.number != width else {
          continue
        }
        sizes[closure] = ClosureSizes.Size(width: width, height: 1)
      }
      return sizes.isEmpty ? [] : [ClosureSizes(form: .shown, scheme: .light, sizes: sizes)]
    }
  }

  /// The texts of the entries that are stored, and the calls that the extension received.
  private func stored(
    _ entries: [ArchivedEntry],
    _ layout: @escaping @Sendable (ArchivedEntry, WidgetEnvironment) async -> [ClosureSizes],
    again: @escaping @Sendable (CallClosures) throws -> [ArchivedEntry]
  ) async throws -> (texts: [[String]], calls: [CallClosures]) {
    var fixture = try TimelineServiceFixture()
    fixture.closureSizes = layout
    let service = try await fixture.host(kinds: [])
    try await service.setKinds(widget, [WidgetDeclaration(kind: "Coffee")])
    let calls = Mutex<[CallClosures]>([])
    let process = try await fixture.startExtension { _ in
      RequestTimeline.Reply(entries: entries, policy: .never, closures: 7)
    }
    process.onRequest(CallClosures.self) { call, _ in
      calls.withLock { $0.append(call) }
      return RequestTimeline.Reply(entries: try again(call), policy: .never, closures: 7)
    }
    async let foundEntries = service.entries(of: "Coffee", .systemSmall, .timeline, in: nil)
    var processes = service.device.processes.makeAsyncIterator()
    _ = await processes.next()
    await service.awake(widget)
    let texts = try await foundEntries.entries.map(\.view.lines)
    await process.leave()
    return (texts, calls.withLock { $0 })
  }

  @Test(.rule("LAYOUT-13")) func `the closures whose size differs are called again, of the entries that have some`()
    async throws
  {
    let givenEntries = [entry([10, 20]), entry([30, 20], 60)]
    let (texts, calls) = try await stored(givenEntries, layout([30, 20])) { call in
      #expect(call.number == 7)
      return call.entries.map { _ in entry([30, 20]) }
    }
    #expect(texts == [["[30.0, 20.0]"], ["[30.0, 20.0]"]])
    #expect(calls.map { $0.entries.map(\.index) } == [[0]])
    #expect(calls.first?.entries.first?.closures.first?.sizes == ["1": ClosureSizes.Size(width: 30, height: 1)])
  }

  @Test(.rule("LAYOUT-13")) func `closures that never agree are called four times`() async throws {
    let width = Mutex(0.0)
    let (texts, calls) = try await stored([entry([0])], layout([-1])) { _ in
      [
        entry([
          width.withLock {
            $0 += 1
            return $0
          }
        ])
      ]
    }
    #expect(calls.count == 4)
    #expect(texts == [["[4.0]"]])
  }

  @Test(.rule("LAYOUT-13")) func `views stay as they are when the extension has released them`() async throws {
    let (texts, calls) = try await stored([entry([10])], layout([20])) { _ in
      throw BusError(.viewsReleased, "released")
    }
    #expect(calls.count == 1)
    #expect(texts == [["[10.0]"]])
  }

  @Test(.rule("LAYOUT-13")) func `a reply without closures is not laid out`() async throws {
    var fixture = try TimelineServiceFixture()
    fixture.closureSizes = { _, _ in
      Issue.record("there is nothing to lay out")
      return []
    }
    let service = try await fixture.host()
    let process = try await fixture.startExtension("a")
    await service.awake(widget)
    #expect(await fixture.received(TimelineStored.self) != nil)
    await process.leave()
  }
}
