// SPDX-License-Identifier: Apache-2.0

import Cluster
import Device
import FaultPoints
import Foundation
import Stores
import Synchronization

/// The path of each product's container. It contains a UUID, as on a device, and an update changes it.
///
/// An update is persisted before it begins, so that the host completes it after a restart.
final class Containers: ContainerMoves {
  private let folder: DeviceFolder
  private let store: DeviceStore
  private let places: Mutex<[String: DeviceStore.Place]>

  /// Creates missing containers, and records moves that were completed but not written to the database.
  ///
  /// - Throws: `instance-folder`, or errors of the database.
  init(of bundles: [String], in folder: DeviceFolder, _ store: DeviceStore) throws {
    self.folder = folder
    self.store = store
    let knownPlaces = try store.places()
    var places: [String: DeviceStore.Place] = [:]
    for bundle in bundles {
      var place = knownPlaces[bundle] ?? DeviceStore.Place(name: UUID().uuidString)
      let isMoved = !FileManager.default.fileExists(atPath: "\(folder.containers(of: bundle))/\(place.name)")
      if let next = place.next, isMoved { place = DeviceStore.Place(name: next) }
      places[bundle] = place
    }
    self.places = Mutex(places)
    try store.set(places.filter { knownPlaces[$0.key] != $0.value })
    for bundle in bundles {
      try make(bundle)
      removeOthers(bundle)
    }
  }

  /// The path of a product's container; `nil` for a product that the device does not have.
  func path(of bundle: String) -> String? {
    places.withLock { $0[bundle]?.name }.map { "\(folder.containers(of: bundle))/\($0)" }
  }

  /// Creates what is missing of a container.
  ///
  /// - Throws: `instance-folder`.
  func make(_ bundle: String) throws {
    if let path = path(of: bundle) { try DeviceFolder.makeContainer(at: path) }
  }

  /// Products whose containers are to be moved: those of unfinished updates.
  var moving: [String] { places.withLock { places in places.filter { $0.value.next != nil }.keys.sorted() } }

  /// Persists that these containers are to be moved.
  func beginMove(of bundles: [String]) throws {
    try change(bundles) { place in
      DeviceStore.Place(name: place.name, next: place.next ?? UUID().uuidString)
    }
  }

  /// Moves the containers. No process may be running in them.
  func endMove(of bundles: [String]) throws {
    for bundle in bundles {
      guard let place = places.withLock({ $0[bundle] }), let next = place.next else { continue }
      let home = folder.containers(of: bundle)
      // Copies for the process that has exited; the next one gets new copies.
      let copies = "\(home)/\(place.name)/Library/Caches/com.apple.nsurlsessiond"
      if FileManager.default.fileExists(atPath: copies) { try FileManager.default.removeItem(atPath: copies) }
      guard rename("\(home)/\(place.name)", "\(home)/\(next)") == 0 else {
        throw ClusterError(.folder, "\(home)/\(place.name) cannot be moved: \(String(cString: strerror(errno)))")
      }
      try change([bundle]) { _ in DeviceStore.Place(name: next) }
    }
  }

  /// Writes the database first.
  private func change(_ bundles: [String], _ change: (DeviceStore.Place) -> DeviceStore.Place) throws {
    let changed = places.withLock { places in places.filter { bundles.contains($0.key) } }.mapValues(change)
    try store.set(changed)
    places.withLock { $0.merge(changed) { $1 } }
  }

  /// Deletes what a process that had the previous path created there after the move.
  private func removeOthers(_ bundle: String) {
    let home = folder.containers(of: bundle)
    guard let place = places.withLock({ $0[bundle] }) else { return }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: home)) ?? []
    for name in names where name != place.name && UUID(uuidString: name) != nil {
      try? FileManager.default.removeItem(atPath: "\(home)/\(name)")
    }
  }
}

extension StoreFaultPoints {
  /// The fault points of the device's database, by table.
  static let host: [String: StoreFaultPoints] = {
    let groups: [(before: FaultPoint, after: FaultPoint, tables: String)] = [
      (.hostBeforeTasksSaved, .hostAfterTasksSaved, "sessions tasks limiters"),
      (.hostBeforeDeliveriesSaved, .hostAfterDeliveriesSaved, "deliveries acknowledgedTasks syncs"),
      (.hostBeforeInstancesSaved, .hostAfterInstancesSaved, "instances agents"),
      (
        .hostBeforeTimelinesSaved, .hostAfterTimelinesSaved,
        "placed kinds timelineFacts entries ledger images entryImages"
      ),
      (
        .hostBeforeScreenSaved, .hostAfterScreenSaved,
        "declarations placements metKinds launchedApps screen stacks activities activityViews"
      ),
      (.hostBeforePushesSaved, .hostAfterPushesSaved, "pushTokens takenPushes openPushes pushSteps"),
      (.hostBeforeSettingsSaved, .hostAfterSettingsSaved, "deviceSettings containers"),
    ]
    let points = groups.flatMap { before, after, tables in
      tables.split(separator: " ").map { (String($0), StoreFaultPoints(before: before, after: after)) }
    }
    return Dictionary(uniqueKeysWithValues: points)
  }()
}
