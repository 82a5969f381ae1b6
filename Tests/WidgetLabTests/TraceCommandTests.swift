// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BusTesting
import Foundation
import JournalAnalysis
import Messages
import Testing

@testable import WidgetLab

@Suite struct `The trace command` {
  private static let cast = RecordedScenario.cast
  private static let ownExtension = cast.widgetExtension

  private func subject(_ text: String, in envelopes: [Envelope]) throws -> TraceSubject {
    try TraceCommand.parse([]).subject(text, in: envelopes)
  }

  @Test func `an unknown subject is refused with the sessions that exist`() throws {
    let envelopes = try RecordedScenario.extensionKilled().envelopes
    let commandError = #expect(throws: CommandError.self) { try subject("nothing", in: envelopes) }
    #expect(commandError?.exit == Exit.no)
    #expect(commandError?.advice?.contains(RecordedScenario.session) == true)
    #expect(commandError?.advice?.contains(RecordedScenario.appSession) == true)
  }

  @Test func `a session identifier with two owners is refused with their correlation ids`() throws {
    var scenario = RecordedScenario()
    for owner in [Self.ownExtension, Self.cast.app] {
      try scenario.send(
        OpenSession(identifier: "same", configuration: SessionConfiguration()), from: owner, to: Self.cast.host)
    }
    let commandError = #expect(throws: CommandError.self) { try subject("same", in: scenario.envelopes) }
    #expect(commandError?.exit == Exit.usage)
    let context1 = MessageContext.correlation(ofSession: "same", of: Self.ownExtension).digits.prefix(8)
    #expect(commandError?.advice?.contains(context1) == true)
  }
}
