import Cluster
import Foundation
import Synchronization

/// Where the container of each product is: under a UUID, as on a device, which an update changes.
///
/// An update is written down before it begins, so that the next life of the host ends it.
final class Containers: Sendable {
  private let folder: DeviceFolder
  private let store: DeviceStore
  private let places: Mutex<[String: DeviceStore.Place]>

  /// Makes the containers that are missing, and ends the moves of an earlier life that only the database does not know.
  ///
  /// - Throws: `instance-folder`, or what the database says.
  init(of bundles: [String], in folder: DeviceFolder, _ store: DeviceStore) throws {
    self.folder = folder
    self.store = store
    let known = try store.places()
    var places: [String: DeviceStore.Place] = [:]
    for bundle in bundles {
      var place = known[bundle] ?? DeviceStore.Place(name: UUID().uuidString)
      let isMoved = !FileManager.default.fileExists(atPath: "\(folder.containers(of: bundle))/\(place.name)")
      if let next = place.next, isMoved { place = DeviceStore.Place(name: next) }
      places[bundle] = place
    }
    self.places = Mutex(places)
    try store.set(places.filter { known[$0.key] != $0.value })
    for bundle in bundles {
      try make(bundle)
      removeOthers(bundle)
    }
  }

  /// Where a product's container is now; `nil` for one that the device does not have.
  func path(of bundle: String) -> String? {
    places.withLock { $0[bundle]?.name }.map { "\(folder.containers(of: bundle))/\($0)" }
  }

  /// Makes what is missing of a container.
  ///
  /// - Throws: `instance-folder`.
  func make(_ bundle: String) throws {
    if let path = path(of: bundle) { try DeviceFolder.makeContainer(at: path) }
  }

  /// Products whose containers are to be moved: of updates that have begun and not ended.
  var moving: [String] { places.withLock { places in places.filter { $0.value.next != nil }.keys.sorted() } }

  /// Writes down that these containers are to be moved.
  func beginMove(of bundles: [String]) throws {
    try change(bundles) { place in
      DeviceStore.Place(name: place.name, next: place.next ?? UUID().uuidString)
    }
  }

  /// Moves them. Nobody may live in them.
  func endMove(of bundles: [String]) throws {
    for bundle in bundles {
      guard let place = places.withLock({ $0[bundle] }), let next = place.next else { continue }
      let home = folder.containers(of: bundle)
      // The copies that were handed to the process that is over: those of the next are new ones.
      let copies = "\(home)/\(place.name)/Library/Caches/com.apple.nsurlsessiond"
      if FileManager.default.fileExists(atPath: copies) { try FileManager.default.removeItem(atPath: copies) }
      guard rename("\(home)/\(place.name)", "\(home)/\(next)") == 0 else {
        throw ClusterError(.folder, "\(home)/\(place.name) cannot be moved: \(String(cString: strerror(errno)))")
      }
      try change([bundle]) { _ in DeviceStore.Place(name: next) }
    }
  }

  /// In the database first.
  private func change(_ bundles: [String], _ change: (DeviceStore.Place) -> DeviceStore.Place) throws {
    let changed = places.withLock { places in places.filter { bundles.contains($0.key) } }.mapValues(change)
    try store.set(changed)
    places.withLock { $0.merge(changed) { $1 } }
  }

  /// What somebody who knew the path of before made there after the move.
  private func removeOthers(_ bundle: String) {
    let home = folder.containers(of: bundle)
    guard let place = places.withLock({ $0[bundle] }) else { return }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: home)) ?? []
    for name in names where name != place.name && UUID(uuidString: name) != nil {
      try? FileManager.default.removeItem(atPath: "\(home)/\(name)")
    }
  }
}
