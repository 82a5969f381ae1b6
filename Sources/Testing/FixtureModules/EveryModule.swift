// SPDX-License-Identifier: Apache-2.0

// A widget that imports every other module that authors have: `scripts/bench --only spawn` measures what they cost an
// extension at its start.

import AVFoundation
import Accelerate
import ActivityKit
import AlarmKit
import AppIntents
import Charts
import CoreData
import CoreGraphics
import CoreText
import CryptoKit
import DeviceActivity
import EventKit
import HealthKit
import ImageIO
import MapKit
import MediaPlayer
import Network
import OSLog
import Security
import StoreKit
import SwiftData
import SwiftUI
import UIKit
import UniformTypeIdentifiers
import UserNotifications
import WatchConnectivity
import WidgetKit

struct TripAttributes: ActivityAttributes {
  struct ContentState: Codable, Hashable {
    var minutes: Int
  }
}

@Model final class Trip {
  var minutes = 0
  init(minutes: Int) { self.minutes = minutes }
}

struct ChooseDay: WidgetConfigurationIntent {
  static let title: LocalizedStringResource = "Choose a day"
  @Parameter(title: "Day", default: 1) var day: Int
}

struct DayProvider: AppIntentTimelineProvider {
  func placeholder(in context: Context) -> ModuleEntry { ModuleEntry() }
  func snapshot(for configuration: ChooseDay, in context: Context) async -> ModuleEntry { placeholder(in: context) }
  func timeline(for configuration: ChooseDay, in context: Context) async -> Timeline<ModuleEntry> {
    let digest = SHA256.hash(data: Data([UInt8(clamping: configuration.day)]))
    let settings = await UNUserNotificationCenter.current().notificationSettings()
    let region = MKCoordinateRegion(
      center: CLLocationCoordinate2D(latitude: 47, longitude: 8), latitudinalMeters: 1000, longitudinalMeters: 1000)
    let font = UIFont.systemFont(ofSize: 12)
    let box = CGRect(x: 0, y: 0, width: font.pointSize, height: 2).applying(CGAffineTransform(scaleX: 2, y: 1))
    let context = (try? ModelContainer(for: Trip.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
      .map(ModelContext.init)
    context?.insert(Trip(minutes: 12))
    let trips = try? context?.fetch(FetchDescriptor<Trip>())
    let token = [kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: "absent"] as CFDictionary
    AVSpeechSynthesizer().speak(AVSpeechUtterance(string: "today"))
    let text = [
      digest.prefix(2).map { String($0, radix: 16) }.joined(), "\(settings.authorizationStatus.rawValue)",
      "\(region.center.latitude)", "\(box.width)",
      "\(trips?.map(\.minutes) ?? [])", "\(NWPathMonitor().currentPath.status)", "\(SecItemCopyMatching(token, nil))",
    ]
    Logger(subsystem: "com.example.Modules", category: "day").info("\(text, privacy: .public)")
    return Timeline(entries: [ModuleEntry(text: text.joined(separator: " "))], policy: .never)
  }
}

struct DayWidget: Widget {
  var body: some WidgetConfiguration {
    AppIntentConfiguration(kind: "Every", intent: ChooseDay.self, provider: DayProvider()) { entry in
      VStack {
        Text(verbatim: entry.text)
        Chart { BarMark(x: .value("Day", "today"), y: .value("Cups", 2)) }
      }
      .containerBackground(.background, for: .widget)
    }
  }
}

struct TripActivity: Widget {
  var body: some WidgetConfiguration {
    ActivityConfiguration(for: TripAttributes.self) { context in
      Text(verbatim: "\(context.state.minutes)")
    } dynamicIsland: { _ in
      DynamicIsland {
        DynamicIslandExpandedRegion(.center) { Text(verbatim: "trip") }
      } compactLeading: {
        EmptyView()
      } compactTrailing: {
        EmptyView()
      } minimal: {
        EmptyView()
      }
    }
  }
}
