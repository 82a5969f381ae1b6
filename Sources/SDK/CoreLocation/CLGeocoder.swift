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

  private init(_ name: String, _ country: String, _ timeZone: String, _ latitude: Double, _ longitude: Double) {
    self.name = name
    self.country = country
    self.timeZone = timeZone
    self.latitude = latitude
    self.longitude = longitude
  }

  static let all = [
    KnownCity("Amsterdam", "NL", "Europe/Amsterdam", 52.3676, 4.9041),
    KnownCity("Athens", "GR", "Europe/Athens", 37.9838, 23.7275),
    KnownCity("Auckland", "NZ", "Pacific/Auckland", -36.8509, 174.7645),
    KnownCity("Bangkok", "TH", "Asia/Bangkok", 13.7563, 100.5018),
    KnownCity("Beijing", "CN", "Asia/Shanghai", 39.9042, 116.4074),
    KnownCity("Berlin", "DE", "Europe/Berlin", 52.52, 13.405),
    KnownCity("Boston", "US", "America/New_York", 42.3601, -71.0589),
    KnownCity("Brussels", "BE", "Europe/Brussels", 50.8503, 4.3517),
    KnownCity("Buenos Aires", "AR", "America/Argentina/Buenos_Aires", -34.6037, -58.3816),
    KnownCity("Cairo", "EG", "Africa/Cairo", 30.0444, 31.2357),
    KnownCity("Cape Town", "ZA", "Africa/Johannesburg", -33.9249, 18.4241),
    KnownCity("Chicago", "US", "America/Chicago", 41.8781, -87.6298),
    KnownCity("Copenhagen", "DK", "Europe/Copenhagen", 55.6761, 12.5683),
    KnownCity("Cupertino", "US", "America/Los_Angeles", 37.323, -122.0322),
    KnownCity("Delhi", "IN", "Asia/Kolkata", 28.6139, 77.209),
    KnownCity("Dubai", "AE", "Asia/Dubai", 25.2048, 55.2708),
    KnownCity("Dublin", "IE", "Europe/Dublin", 53.3498, -6.2603),
    KnownCity("Hong Kong", "HK", "Asia/Hong_Kong", 22.3193, 114.1694),
    KnownCity("Honolulu", "US", "Pacific/Honolulu", 21.3069, -157.8583),
    KnownCity("Istanbul", "TR", "Europe/Istanbul", 41.0082, 28.9784),
    KnownCity("Jakarta", "ID", "Asia/Jakarta", -6.2088, 106.8456),
    KnownCity("Lagos", "NG", "Africa/Lagos", 6.5244, 3.3792),
    KnownCity("Lisbon", "PT", "Europe/Lisbon", 38.7223, -9.1393),
    KnownCity("London", "GB", "Europe/London", 51.5072, -0.1276),
    KnownCity("Los Angeles", "US", "America/Los_Angeles", 34.0522, -118.2437),
    KnownCity("Madrid", "ES", "Europe/Madrid", 40.4168, -3.7038),
    KnownCity("Mexico City", "MX", "America/Mexico_City", 19.4326, -99.1332),
    KnownCity("Milan", "IT", "Europe/Rome", 45.4642, 9.19),
    KnownCity("Moscow", "RU", "Europe/Moscow", 55.7558, 37.6173),
    KnownCity("Mumbai", "IN", "Asia/Kolkata", 19.076, 72.8777),
    KnownCity("Munich", "DE", "Europe/Berlin", 48.1351, 11.582),
    KnownCity("Nairobi", "KE", "Africa/Nairobi", -1.2921, 36.8219),
    KnownCity("New York", "US", "America/New_York", 40.7128, -74.006),
    KnownCity("Oslo", "NO", "Europe/Oslo", 59.9139, 10.7522),
    KnownCity("Paris", "FR", "Europe/Paris", 48.8566, 2.3522),
    KnownCity("Prague", "CZ", "Europe/Prague", 50.0755, 14.4378),
    KnownCity("Rome", "IT", "Europe/Rome", 41.9028, 12.4964),
    KnownCity("San Francisco", "US", "America/Los_Angeles", 37.7749, -122.4194),
    KnownCity("Seattle", "US", "America/Los_Angeles", 47.6062, -122.3321),
    KnownCity("Seoul", "KR", "Asia/Seoul", 37.5665, 126.978),
    KnownCity("Shanghai", "CN", "Asia/Shanghai", 31.2304, 121.4737),
    KnownCity("Singapore", "SG", "Asia/Singapore", 1.3521, 103.8198),
    KnownCity("Stockholm", "SE", "Europe/Stockholm", 59.3293, 18.0686),
    KnownCity("Sydney", "AU", "Australia/Sydney", -33.8688, 151.2093),
    KnownCity("São Paulo", "BR", "America/Sao_Paulo", -23.5558, -46.6396),
    KnownCity("Taipei", "TW", "Asia/Taipei", 25.033, 121.5654),
    KnownCity("Tokyo", "JP", "Asia/Tokyo", 35.6762, 139.6503),
    KnownCity("Toronto", "CA", "America/Toronto", 43.6532, -79.3832),
    KnownCity("Vienna", "AT", "Europe/Vienna", 48.2082, 16.3738),
    KnownCity("Zurich", "CH", "Europe/Zurich", 47.3769, 8.5417),
  ]
}
