// SPDX-License-Identifier: Apache-2.0

public import CoreLocation
public import Foundation

// The geocoder of iOS 26, with the cities of `CLGeocoder`. An address is a city and its country.

/// Finds the places at a location. Source: `MapKit.MKReverseGeocodingRequest`. A location that is far from each known city
/// fails with `MKError.placemarkNotFound`.
open class MKReverseGeocodingRequest: NSObject {
  public let location: CLLocation
  /// Without effect: the names are English.
  open var preferredLocale: Locale?
  public private(set) var isCancelled = false
  /// Always `false`: the places are known at once.
  open var isLoading: Bool { false }

  /// `nil` for a location that is not on the earth.
  public init?(location: CLLocation) {
    guard CLLocationCoordinate2DIsValid(location.coordinate) else { return nil }
    self.location = location
    super.init()
  }

  open var mapItems: [MKMapItem] {
    get async throws {
      do {
        return try await CLGeocoder().reverseGeocodeLocation(location).map { MKMapItem($0, at: location) }
      } catch is CLError {
        throw MKError(.placemarkNotFound)
      }
    }
  }

  /// Calls the closure on the main thread.
  open func getMapItems(completionHandler: @escaping @MainActor @Sendable ([MKMapItem]?, (any Error)?) -> Void) {
    CLGeocoder().reverseGeocodeLocation(location) { [location] placemarks, _ in
      // Used once, by the author's closure.
      nonisolated(unsafe) let items = placemarks?.map { MKMapItem($0, at: location) }
      MainActor.assumeIsolated { completionHandler(items, items == nil ? MKError(.placemarkNotFound) : nil) }
    }
  }

  /// Without effect: there is no network that the request waits for.
  open func cancel() { isCancelled = true }
}

/// A place on a map. Source: `MapKit.MKMapItem`.
open class MKMapItem: NSObject {
  public let location: CLLocation
  public let address: MKAddress?
  public let addressRepresentations: MKAddressRepresentations?
  open var name: String?
  open var phoneNumber: String?
  open var pointOfInterestCategory: MKPointOfInterestCategory?
  open var timeZone: TimeZone?
  open var url: URL?

  private init(_ location: CLLocation, address: MKAddress?, representations: MKAddressRepresentations?) {
    self.location = location
    self.address = address
    addressRepresentations = representations
    super.init()
  }

  public convenience init(location: CLLocation, address: MKAddress?) {
    self.init(location, address: address, representations: nil)
  }

  convenience init(_ placemark: CLPlacemark, at location: CLLocation) {
    let representations = MKAddressRepresentations(placemark)
    let full = representations.fullAddress(includingRegion: true, singleLine: false)
    self.init(
      location, address: full.flatMap { MKAddress(fullAddress: $0, shortAddress: placemark.locality) },
      representations: representations)
    name = placemark.name
    timeZone = placemark.timeZone
  }
}

/// An address as texts. Source: `MapKit.MKAddress`.
open class MKAddress: NSObject {
  public let fullAddress: String
  public let shortAddress: String?

  /// `nil` for an empty address.
  public init?(fullAddress: String, shortAddress: String?) {
    guard !fullAddress.isEmpty else { return nil }
    self.fullAddress = fullAddress
    self.shortAddress = shortAddress
    super.init()
  }
}

/// The parts of an address. Source: `MapKit.MKAddressRepresentations`.
open class MKAddressRepresentations: NSObject {
  /// Source: `MapKit.MKAddressRepresentations.ContextStyle`.
  public enum ContextStyle: Int, Sendable {
    case automatic
    case short
    case full
  }

  public let cityName: String?
  public let regionName: String?
  public let region: Locale.Region?

  init(_ placemark: CLPlacemark) {
    cityName = placemark.locality
    regionName = placemark.country
    region = placemark.isoCountryCode.map { Locale.Region($0) }
    super.init()
  }

  private func joined(_ parts: [String?], _ separator: String) -> String? {
    let known = parts.compactMap(\.self)
    return known.isEmpty ? nil : known.joined(separator: separator)
  }

  /// The city with its country.
  open var cityWithContext: String? { joined([cityName, regionName], ", ") }
  /// The same for each style: the states are not known.
  open func cityWithContext(_ style: ContextStyle) -> String? { cityWithContext }
  open func fullAddress(includingRegion: Bool, singleLine: Bool) -> String? {
    joined([cityName, includingRegion ? regionName : nil], singleLine ? ", " : "\n")
  }
}
