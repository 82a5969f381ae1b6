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

/// A row of the geocoder's table.
struct KnownCity: Sendable {
  let name: String
  /// ISO 3166.
  let country: String
  let timeZone: String
  let latitude: Double
  let longitude: Double

  var location: CLLocation { CLLocation(latitude: latitude, longitude: longitude) }

  private init(_ name: String, country: String, timeZone: String, latitude: Double, longitude: Double) {
    self.name = name
    self.country = country
    self.timeZone = timeZone
    self.latitude = latitude
    self.longitude = longitude
  }

  static let all = [
    KnownCity("Amsterdam", country: "NL", timeZone: "Europe/Amsterdam", latitude: 52.3676, longitude: 4.9041),
    KnownCity("Athens", country: "GR", timeZone: "Europe/Athens", latitude: 37.9838, longitude: 23.7275),
    KnownCity("Auckland", country: "NZ", timeZone: "Pacific/Auckland", latitude: -36.8509, longitude: 174.7645),
    KnownCity("Bangkok", country: "TH", timeZone: "Asia/Bangkok", latitude: 13.7563, longitude: 100.5018),
    KnownCity("Beijing", country: "CN", timeZone: "Asia/Shanghai", latitude: 39.9042, longitude: 116.4074),
    KnownCity("Berlin", country: "DE", timeZone: "Europe/Berlin", latitude: 52.52, longitude: 13.405),
    KnownCity("Boston", country: "US", timeZone: "America/New_York", latitude: 42.3601, longitude: -71.0589),
    KnownCity("Brussels", country: "BE", timeZone: "Europe/Brussels", latitude: 50.8503, longitude: 4.3517),
    KnownCity(
      "Buenos Aires", country: "AR", timeZone: "America/Argentina/Buenos_Aires", latitude: -34.6037, longitude: -58.3816
    ),
    KnownCity("Cairo", country: "EG", timeZone: "Africa/Cairo", latitude: 30.0444, longitude: 31.2357),
    KnownCity("Cape Town", country: "ZA", timeZone: "Africa/Johannesburg", latitude: -33.9249, longitude: 18.4241),
    KnownCity("Chicago", country: "US", timeZone: "America/Chicago", latitude: 41.8781, longitude: -87.6298),
    KnownCity("Copenhagen", country: "DK", timeZone: "Europe/Copenhagen", latitude: 55.6761, longitude: 12.5683),
    KnownCity("Cupertino", country: "US", timeZone: "America/Los_Angeles", latitude: 37.323, longitude: -122.0322),
    KnownCity("Delhi", country: "IN", timeZone: "Asia/Kolkata", latitude: 28.6139, longitude: 77.209),
    KnownCity("Dubai", country: "AE", timeZone: "Asia/Dubai", latitude: 25.2048, longitude: 55.2708),
    KnownCity("Dublin", country: "IE", timeZone: "Europe/Dublin", latitude: 53.3498, longitude: -6.2603),
    KnownCity("Hong Kong", country: "HK", timeZone: "Asia/Hong_Kong", latitude: 22.3193, longitude: 114.1694),
    KnownCity("Honolulu", country: "US", timeZone: "Pacific/Honolulu", latitude: 21.3069, longitude: -157.8583),
    KnownCity("Istanbul", country: "TR", timeZone: "Europe/Istanbul", latitude: 41.0082, longitude: 28.9784),
    KnownCity("Jakarta", country: "ID", timeZone: "Asia/Jakarta", latitude: -6.2088, longitude: 106.8456),
    KnownCity("Lagos", country: "NG", timeZone: "Africa/Lagos", latitude: 6.5244, longitude: 3.3792),
    KnownCity("Lisbon", country: "PT", timeZone: "Europe/Lisbon", latitude: 38.7223, longitude: -9.1393),
    KnownCity("London", country: "GB", timeZone: "Europe/London", latitude: 51.5072, longitude: -0.1276),
    KnownCity("Los Angeles", country: "US", timeZone: "America/Los_Angeles", latitude: 34.0522, longitude: -118.2437),
    KnownCity("Madrid", country: "ES", timeZone: "Europe/Madrid", latitude: 40.4168, longitude: -3.7038),
    KnownCity("Mexico City", country: "MX", timeZone: "America/Mexico_City", latitude: 19.4326, longitude: -99.1332),
    KnownCity("Milan", country: "IT", timeZone: "Europe/Rome", latitude: 45.4642, longitude: 9.19),
    KnownCity("Moscow", country: "RU", timeZone: "Europe/Moscow", latitude: 55.7558, longitude: 37.6173),
    KnownCity("Mumbai", country: "IN", timeZone: "Asia/Kolkata", latitude: 19.076, longitude: 72.8777),
    KnownCity("Munich", country: "DE", timeZone: "Europe/Berlin", latitude: 48.1351, longitude: 11.582),
    KnownCity("Nairobi", country: "KE", timeZone: "Africa/Nairobi", latitude: -1.2921, longitude: 36.8219),
    KnownCity("New York", country: "US", timeZone: "America/New_York", latitude: 40.7128, longitude: -74.006),
    KnownCity("Oslo", country: "NO", timeZone: "Europe/Oslo", latitude: 59.9139, longitude: 10.7522),
    KnownCity("Paris", country: "FR", timeZone: "Europe/Paris", latitude: 48.8566, longitude: 2.3522),
    KnownCity("Prague", country: "CZ", timeZone: "Europe/Prague", latitude: 50.0755, longitude: 14.4378),
    KnownCity("Rome", country: "IT", timeZone: "Europe/Rome", latitude: 41.9028, longitude: 12.4964),
    KnownCity("San Francisco", country: "US", timeZone: "America/Los_Angeles", latitude: 37.7749, longitude: -122.4194),
    KnownCity("Seattle", country: "US", timeZone: "America/Los_Angeles", latitude: 47.6062, longitude: -122.3321),
    KnownCity("Seoul", country: "KR", timeZone: "Asia/Seoul", latitude: 37.5665, longitude: 126.978),
    KnownCity("Shanghai", country: "CN", timeZone: "Asia/Shanghai", latitude: 31.2304, longitude: 121.4737),
    KnownCity("Singapore", country: "SG", timeZone: "Asia/Singapore", latitude: 1.3521, longitude: 103.8198),
    KnownCity("Stockholm", country: "SE", timeZone: "Europe/Stockholm", latitude: 59.3293, longitude: 18.0686),
    KnownCity("Sydney", country: "AU", timeZone: "Australia/Sydney", latitude: -33.8688, longitude: 151.2093),
    KnownCity("São Paulo", country: "BR", timeZone: "America/Sao_Paulo", latitude: -23.5558, longitude: -46.6396),
    KnownCity("Taipei", country: "TW", timeZone: "Asia/Taipei", latitude: 25.033, longitude: 121.5654),
    KnownCity("Tokyo", country: "JP", timeZone: "Asia/Tokyo", latitude: 35.6762, longitude: 139.6503),
    KnownCity("Toronto", country: "CA", timeZone: "America/Toronto", latitude: 43.6532, longitude: -79.3832),
    KnownCity("Vienna", country: "AT", timeZone: "Europe/Vienna", latitude: 48.2082, longitude: 16.3738),
    KnownCity("Zurich", country: "CH", timeZone: "Europe/Zurich", latitude: 47.3769, longitude: 8.5417),
  ]
}
