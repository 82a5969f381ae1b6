// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import MessageBus
import Messages
import Testing
import WidgetLabTesting

/// The metrics of a broker and a push server that run.
@Suite(.live, .timeLimit(.live)) struct `Metrics of running processes` {
  /// The announcement in `metrics/NAME.json`, in the format that Prometheus reads.
  private struct Group: Decodable {
    let targets: [String]
    let labels: [String: String]
  }

  private func page(_ name: String, of lone: LonePushServer) async throws -> [String: Double] {
    let file = lone.instance.metrics + "/\(name).json"
    let groups = try #require(try JSONFile.read([Group].self, at: file))
    #expect(groups.map(\.labels) == [["process": name]])
    let target = try #require(groups.first?.targets.first)
    let output = "\(lone.instance.path)/page-\(UUID().uuidString)"
    let child = try await LabChild.start(
      "/usr/bin/curl", ["-fsS", "http://\(target)/metrics"], output: output, errors: output + ".err")
    #expect(await child.ending() == 0)
    var values: [String: Double] = [:]
    for line in try String(contentsOfFile: output, encoding: .utf8).split(separator: "\n") where line.first != "#" {
      let place = try #require(line.lastIndex(of: " "))
      values[String(line[..<place])] = Double(line[line.index(after: place)...])
    }
    return values
  }

  @Test func `they are announced in the instance, and count what happened to a push`() async throws {
    let metrics = ["metrics: 127.0.0.1:0"]
    try await LonePushServer.run("metrics", settings: metrics, bus: metrics) { lone in
      let server = try #require(try PushServerAnnouncement.read(in: lone.instance))
      let device = try await lone.device { _, _ in }
      let token = try await lone.token(device)
      try await device.deliver(DeviceReach(isOnline: true, isAwake: true), to: .pushServer)
      let refusal = try await lone.curl(server, token: token, topic: "com.example.Other").output
      let reason = try #require(refusal.firstMatch(of: /"reason":"(\w+)"/)?.1, "\(refusal)")
      let answer = try await lone.curl(server, token: token).output
      #expect(answer.contains("HTTP 200"))
      let id = try #require(answer.firstMatch(of: /apns-unique-id: ([-0-9a-fA-F]+)/)?.1)
      let tool = try await lone.operator()
      _ = try await lone.record(try #require(UUID(uuidString: String(id))), at: .delivered, tool)
      let push = try await page("push-server", of: lone)
      #expect(push["widgetlab_push_responses_total{reason=\"ok\"}"] == 1)
      #expect(push["widgetlab_push_responses_total{reason=\"\(reason)\"}"] == 1)
      #expect(push["widgetlab_push_requests_total{environment=\"development\"}"] == 2)
      #expect(push["widgetlab_push_accepted_total{type=\"widgets\"}"] == 1)
      #expect(push["widgetlab_push_steps_total{step=\"delivered\"}"] == 1)
      #expect(push["widgetlab_push_delivery_duration_seconds_count"] == 1)
      #expect(push["widgetlab_push_response_duration_seconds_count"] == 2)
      #expect(push["widgetlab_push_batches_total", default: 0] >= 2)
      let bus = try await page("message-bus", of: lone)
      #expect(bus["widgetlab_bus_peers"] == 3, "the push server, the device and the operator")
      #expect(bus["widgetlab_bus_records_total", default: 0] > 5)
      #expect(bus["widgetlab_bus_generation"] == 1)
      await tool.leave()
      await device.leave()
    }
  }

  @Test func `without the option no process opens a port or writes a file for them`() async throws {
    try await LonePushServer.run("no metrics") { lone in
      #expect(!FileManager.default.fileExists(atPath: lone.instance.metrics))
    }
  }
}
