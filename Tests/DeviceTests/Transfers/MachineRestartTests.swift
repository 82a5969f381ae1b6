// SPDX-License-Identifier: Apache-2.0

import BusTesting
import FidelityRules
import Foundation
import Messages
import Testing
import Timekeeping

@testable import Device
@testable import DeviceRules

private let widget = TransferSamples.widget
private let bytes = figures(300_000)

/// After a restart of the machine, what the disk has of an unfinished file is unknown.
@Suite(.timeLimit(.minutes(1))) struct MachineRestartTests {
  @Test(.rule("TRANSFER-63"))
  func `a download begins again after a restart of the machine, and an ended one is kept`() async throws {
    let fixture = try await TransferFixture(.init(bytes: bytes, cutAfter: 100_000))
    let service = try await fixture.host()
    let owner = try await ModelOwner(fixture.bus)
    try await owner.open()
    try await owner.create(1, fixture.server.url)
    await fixture.recorded(.retrying)
    await fixture.end(service)
    let boot = fixture.folder + "/transfers/boot"
    #expect(FileManager.default.fileExists(atPath: boot))
    try Data("another boot".utf8).write(to: URL(fileURLWithPath: boot))
    let second = try await fixture.host()
    await fixture.clock.whenSleeping(within: 1)
    fixture.clock.advance(by: 1)
    #expect(await fixture.recorded(.finished)?.sha256 == digest(bytes))
    #expect(fixture.server.seen.map(\.range) == [nil, nil])
    await fixture.end(second)
    try Data("a third boot".utf8).write(to: URL(fileURLWithPath: boot))
    let third = try await fixture.host()
    await third.awake(widget, generation: 1, woken: false)
    #expect(await owner.next()?.files == [Data(bytes)])
    await fixture.end(third)
  }
}
