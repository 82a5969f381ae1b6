import Cluster
import Conversations
import MessageBus
import Timelines

// Where the device is: nobody says; that it moved far an operator does.

extension Device {
  nonisolated func listenForMoves() {
    bus.onRequest(MoveDevice.self) { [timelines, wantingLocation] _, from in
      try await timelines.moved(wantingLocation, from.story)
    }
  }
}

extension ClusterConfiguration {
  /// The extensions whose widgets want the location, as their own `Info.plist` says.
  ///
  /// - Throws: `configuration`, with the file and the key.
  func bundlesWantingLocation() throws(ClusterError) -> Set<String> {
    var bundles: Set<String> = []
    for product in extensions where try product.readInfoPlist()?.wantsLocation == true {
      bundles.insert(product.bundle)
    }
    return bundles
  }
}
