// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A place with its names. Source: `CoreLocation.CLPlacemark`.
open class CLPlacemark: NSObject {
  public let location: CLLocation?
  public let name: String?
  public let locality: String?
  public let country: String?
  public let isoCountryCode: String?
  public let timeZone: TimeZone?
  open var administrativeArea: String? { nil }
  open var subAdministrativeArea: String? { nil }
  open var subLocality: String? { nil }
  open var thoroughfare: String? { nil }
  open var subThoroughfare: String? { nil }
  open var postalCode: String? { nil }
  open var region: CLRegion? { nil }
  open var inlandWater: String? { nil }
  open var ocean: String? { nil }
  open var areasOfInterest: [String]? { nil }

  init(_ city: KnownCity, at location: CLLocation) {
    self.location = location
    name = city.name
    locality = city.name
    country = Locale(identifier: "en_US").localizedString(forRegionCode: city.country)
    isoCountryCode = city.country
    timeZone = TimeZone(identifier: city.timeZone)
  }
}

/// Finds the names of places, in a table of large cities. Source: `CoreLocation.CLGeocoder`. A place that is farther than
/// 50 km from each of them has no result.
open class CLGeocoder: NSObject {
  public typealias CompletionHandler = ([CLPlacemark]?, (any Error)?) -> Void

  private static let reach: CLLocationDistance = 50_000
  public private(set) var isGeocoding = false

  public override init() { super.init() }

  private static func placemarks(near location: CLLocation) throws(CLError) -> [CLPlacemark] {
    let found = KnownCity.all.map { ($0, $0.location.distance(from: location)) }.min { $0.1 < $1.1 }
    guard let found, found.1 <= reach else { throw CLError(.geocodeFoundNoResult) }
    return [CLPlacemark(found.0, at: location)]
  }

  private static func placemarks(for address: String) throws(CLError) -> [CLPlacemark] {
    let words = address.lowercased()
    let found = KnownCity.all.filter { words.contains($0.name.lowercased()) }
    guard !found.isEmpty else { throw CLError(.geocodeFoundNoResult) }
    return found.map { CLPlacemark($0, at: $0.location) }
  }

  private func give(
    _ completionHandler: @escaping CompletionHandler, _ find: () throws(CLError) -> [CLPlacemark]
  ) {
    // The author's closure and the result, used once, on the main thread.
    nonisolated(unsafe) let completionHandler = completionHandler
    do {
      // Used once, on the main thread.
      nonisolated(unsafe) let found = try find()
      DispatchQueue.main.async { completionHandler(found, nil) }
    } catch {
      DispatchQueue.main.async { completionHandler(nil, error) }
    }
  }

  open func reverseGeocodeLocation(_ location: CLLocation, completionHandler: @escaping CompletionHandler) {
    give(completionHandler) { () throws(CLError) in try Self.placemarks(near: location) }
  }
  open func reverseGeocodeLocation(
    _ location: CLLocation, preferredLocale locale: Locale?, completionHandler: @escaping CompletionHandler
  ) {
    reverseGeocodeLocation(location, completionHandler: completionHandler)
  }
  open func reverseGeocodeLocation(_ location: CLLocation) async throws -> [CLPlacemark] {
    try Self.placemarks(near: location)
  }
  open func geocodeAddressString(_ addressString: String, completionHandler: @escaping CompletionHandler) {
    give(completionHandler) { () throws(CLError) in try Self.placemarks(for: addressString) }
  }
  open func geocodeAddressString(_ addressString: String) async throws -> [CLPlacemark] {
    try Self.placemarks(for: addressString)
  }
  open func cancelGeocode() {}
}
