// SPDX-License-Identifier: Apache-2.0

import Archive
import Cluster
import Foundation
import Layout
import Messages
import Pictures
import Testing

@testable import WidgetLab

@Suite(.timeLimit(.minutes(1))) struct `The picture of a screen` {
  private static let text = ViewArchive(.leaf(.text), [.text: "12 minutes"])

  private func activity(_ number: Int, _ place: ShowScreen.LiveActivity.Place) -> ShowScreen.LiveActivity {
    let parts: [ActivityViews.Part] = [.lockScreen, .compactLeading, .compactTrailing, .minimal]
    let views = ActivityViews(items: parts.map { .init($0, ArchivedEntry.Form(view: Self.text)) })
    let record = ActivityRecord(
      number: number, id: "\(number)", app: "com.example.app", attributesType: "Delivery", attributes: "{}",
      content: ActivityContentRecord(state: "{}"), startedAt: .distantPast)
    return ShowScreen.LiveActivity(activity: record, place: place, views: views, note: nil)
  }

  /// The labels of the drawings below one another, with their vertical offsets.
  private func rows(_ activities: [ShowScreen.LiveActivity]) throws -> [(label: String, top: Double)] {
    let placement = Placement(
      id: 1, bundle: "com.example.app.widget", kind: "Coffee", family: .systemSmall, location: .homeScreen)
    var tile = ShowScreen.Tile(
      placement: placement, content: .entry, background: .shown, renderingMode: .fullColor, date: nil,
      view: Self.text, note: nil)
    tile.size = .init(width: 158, height: 158)
    var reply = ShowScreen.Reply(state: DeviceScreen(), location: .homeScreen, tiles: [tile])
    reply.activities = activities
    let cluster = try ClusterConfiguration(
      yaml: "device: {name: iphone}\nextensions:\n  - {bundle: com.example.app.widget, executable: w, agent: 1}\n")
    let device = cluster.device
    let screen = ScreenPicture(screen: ScreenPrint(reply: reply, now: .distantPast), device: device)
    return try screen.picture(with: InterFont()).drawings.compactMap { drawing in
      guard case .group(let group, _) = drawing, let label = group.label else { return nil }
      return (label, group.offset?.y ?? 0)
    }
    .sorted { $0.top < $1.top }
  }

  @Test func `the Dynamic Island is above the widgets, and an activity of the Lock Screen below them`() throws {
    let alone = try rows([])
    #expect(alone.map(\.label) == ["1 Coffee systemSmall"])
    let rows = try rows([activity(3, .lockScreen), activity(2, .compact)])
    #expect(rows.map(\.label) == ["2 Delivery compact", "1 Coffee systemSmall", "3 Delivery lockScreen"])
    #expect(rows[0].top == alone[0].top && rows[1].top > alone[0].top)
    #expect(rows[2].top > rows[1].top + 158)
  }
}
