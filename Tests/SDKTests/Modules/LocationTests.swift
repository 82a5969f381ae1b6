// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Messages
import Synchronization
import Testing

@testable import AuthorRuntime
@testable import CoreLocation

@Suite(.timeLimit(.minutes(1))) struct `The location of a device` {
  /// Collects what a manager reports.
  @MainActor private final class Listener: NSObject, @preconcurrency CLLocationManagerDelegate {
    let lines = AsyncStream.makeStream(of: String.self)
    func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
      lines.continuation.yield("\(locations[0].coordinate.latitude) \(locations[0].coordinate.longitude)")
    }
    func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
      lines.continuation.yield("\((error as? CLError)?.code == .denied ? "denied" : "unknown")")
    }
    func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
      lines.continuation.yield("status \(manager.authorizationStatus.rawValue)")
    }
  }

  private func settings(_ location: String, _ access: String = "allowed") throws -> DeviceSettings {
    var settings = DeviceSettings()
    try settings.set(.location, to: location)
    try settings.set(.locationAccess, to: access)
    return settings
  }

  @MainActor @Test(.rule("SETTING-09"))
  func `a manager reports the authorization, an unknown location, each new one, and a denial`()
    async throws
  {
    let fixture = try SDKFixture()
    let place = DevicePlace.of(fixture.process)
    let (manager, listener) = fixture.process.asCurrent { (CLLocationManager(), Listener()) }
    var lines = listener.lines.stream.makeAsyncIterator()
    manager.delegate = listener
    #expect(await lines.next() == "status 4")
    manager.startUpdatingLocation()
    #expect(await lines.next() == "unknown")
    place.set(try settings("47.37,8.54"))
    #expect(await lines.next() == "47.37 8.54")
    #expect(manager.location?.coordinate.latitude == 47.37)
    place.set(try settings("47.37,8.54", "denied"))
    #expect(await lines.next() == "denied")
    #expect(manager.location == nil)
    manager.stopUpdatingLocation()
  }

  @Test(arguments: ["", "1", "91,0", "0,181", "a,b", "1,2,3"]) func `a text that is no place is refused`(text: String) {
    #expect(throws: SettingRefusal.self) { _ = try settings(text) }
  }

  @Test func `a distance is that of a great circle`() {
    let bern = CLLocation(latitude: 46.948, longitude: 7.4474)
    let zurich = CLLocation(latitude: 47.3769, longitude: 8.5417)
    #expect(abs(bern.distance(from: zurich) - 95_500) < 500)
    let region = CLCircularRegion(center: zurich.coordinate, radius: 1000, identifier: "z")
    #expect(region.contains(zurich.coordinate))
    #expect(!region.contains(bern.coordinate))
  }

  @Test func `a geocoder finds the nearest large city, and the city in an address`() async throws {
    let foundPlacemarks = try await CLGeocoder().reverseGeocodeLocation(CLLocation(latitude: 48.2, longitude: 16.4))
    #expect(foundPlacemarks.first?.locality == "Vienna")
    #expect(foundPlacemarks.first?.isoCountryCode == "AT")
    #expect(try await CLGeocoder().geocodeAddressString("Main Street, Paris").first?.country == "France")
    await #expect(throws: CLError(.geocodeFoundNoResult)) {
      try await CLGeocoder().reverseGeocodeLocation(CLLocation(latitude: 0, longitude: 0))
    }
  }
}
