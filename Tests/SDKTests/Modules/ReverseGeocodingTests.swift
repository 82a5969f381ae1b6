// SPDX-License-Identifier: Apache-2.0

import CoreLocation
import Foundation
import Testing

@testable import MapKit

@Suite(.timeLimit(.minutes(1))) struct `Reverse geocoding with MapKit` {
  private var vienna: CLLocation { CLLocation(latitude: 48.2, longitude: 16.4) }

  @Test func `a location has the large city near it, with its address`() async throws {
    let request = try #require(MKReverseGeocodingRequest(location: vienna))
    let item = try #require(try await request.mapItems.first)
    #expect(item.name == "Vienna" && item.timeZone?.identifier == "Europe/Vienna")
    #expect(item.location.coordinate.latitude == 48.2 && !request.isLoading && !request.isCancelled)
    let parts = try #require(item.addressRepresentations)
    #expect(
      parts.cityName == "Vienna" && parts.regionName == "Austria"
        && parts.region?.identifier == "AT")
    #expect(
      parts.cityWithContext == "Vienna, Austria"
        && parts.cityWithContext(.short) == "Vienna, Austria")
    #expect(parts.fullAddress(includingRegion: false, singleLine: true) == "Vienna")
    #expect(
      item.address?.fullAddress == "Vienna\nAustria" && item.address?.shortAddress == "Vienna")
  }

  @Test
  func `a location far from each city has no place, and one that is not on the earth no request`()
    async throws
  {
    let request = try #require(
      MKReverseGeocodingRequest(location: CLLocation(latitude: 0, longitude: 0)))
    await #expect(throws: MKError(.placemarkNotFound)) { _ = try await request.mapItems }
    #expect(MKReverseGeocodingRequest(location: CLLocation(latitude: 91, longitude: 0)) == nil)
    #expect(MKAddress(fullAddress: "", shortAddress: nil) == nil)
    let own = MKMapItem(
      location: vienna, address: MKAddress(fullAddress: "Ring 1", shortAddress: nil))
    #expect(
      own.address?.fullAddress == "Ring 1" && own.addressRepresentations == nil && own.name == nil)
  }

  @MainActor @Test func `a completion handler gets the places or the error on the main thread`()
    async throws
  {
    let foundItems = try #require(MKReverseGeocodingRequest(location: vienna))
    let name = await withCheckedContinuation { continuation in
      foundItems.getMapItems { items, error in
        continuation.resume(returning: error == nil ? items?.first?.name : nil)
      }
    }
    #expect(name == "Vienna")
    let missing = try #require(
      MKReverseGeocodingRequest(location: CLLocation(latitude: 0, longitude: 0)))
    let code = await withCheckedContinuation { continuation in
      missing.getMapItems { items, error in
        continuation.resume(returning: items == nil ? (error as? MKError)?.code : nil)
      }
    }
    #expect(code == .placemarkNotFound)
  }
}
