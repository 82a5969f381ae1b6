// SPDX-License-Identifier: Apache-2.0

import Testing
import WidgetLabTesting

/// A cluster whose app and extension run in two containers, as with compose: an agent for each.
@Suite(.live, .timeLimit(.live)) struct `Two agents` {
  static let configuration = """
    device: { name: phone, model: iPhone 16, platform: iOS, version: "18.0" }
    appGroups: [group.com.example.CaffeineTracker]
    apps:
      - bundle: com.example.CaffeineTracker
        executable: containing-app
        agent: 1
        environment: { CAFFEINE_FIGURES_URL: "${provider.url}/figures?size=262144&bytesPerSecond=131072" }
    extensions:
      - bundle: com.example.CaffeineTracker.Widget
        executable: widget-extension
        agent: 2
        environment: { CAFFEINE_FIGURES_URL: "${provider.url}/figures?size=393216&bytesPerSecond=131072" }
    provider: { executable: provider-server }
    """

  @Test func `a kill of the extension's agent relaunches the extension and leaves the app of the other agent running`()
    async throws
  {
    try await LabCluster.with("two-agents", configuration: Self.configuration) { cluster in
      let story = try await cluster.attempt(["demo", "--attach", "--kill", "agent", "--timeout", "120"])
      #expect(story.status == 0, "\(story.output)\n\(story.errors)")
      let launches = try await cluster.journal.all().filter { $0.kind == "process.started" }
      let addresses = launches.map { $0.source }
      #expect(addresses.filter { $0 == "device/phone/agent/1" }.count == 1)
      #expect(addresses.filter { $0 == "device/phone/agent/2" }.count == 2)
    }
  }
}
