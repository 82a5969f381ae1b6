// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing

@testable import AuthorRuntime
@testable import DeviceActivity
@testable import SwiftUI

@Suite(.timeLimit(.minutes(1))) struct `A Screen Time report` {
  @Test(.rule("DIAGNOSIS-11")) @MainActor func `is empty, and is reported as not simulated`() async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    fixture.process.asCurrent {
      let filter = DeviceActivityFilter(segment: .hourly())
      #expect(DeviceActivityReport(DeviceActivityReport.Context("Total"), filter: filter).body is EmptyView)
    }
    let reported = await fixture.sent(FaultNoticed.self).filter { $0.fault == .notSimulated }
    #expect(reported.map(\.subject) == ["DeviceActivityReport"])
  }
}
