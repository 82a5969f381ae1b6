// SPDX-License-Identifier: Apache-2.0

@_exported public import CoreLocation
@_exported public import Foundation
@_exported public import UIKit

/// The height and width of a region, in degrees. Source: `MapKit.MKCoordinateSpan`.
public struct MKCoordinateSpan: Sendable {
  public var latitudeDelta: CLLocationDegrees
  public var longitudeDelta: CLLocationDegrees
  public init() { self.init(latitudeDelta: 0, longitudeDelta: 0) }
  public init(latitudeDelta: CLLocationDegrees, longitudeDelta: CLLocationDegrees) {
    self.latitudeDelta = latitudeDelta
    self.longitudeDelta = longitudeDelta
  }
}

/// A part of the earth. Source: `MapKit.MKCoordinateRegion`.
public struct MKCoordinateRegion: Sendable {
  public var center: CLLocationCoordinate2D
  public var span: MKCoordinateSpan
  public init() { self.init(center: CLLocationCoordinate2D(), span: MKCoordinateSpan()) }
  public init(center: CLLocationCoordinate2D, span: MKCoordinateSpan) {
    self.center = center
    self.span = span
  }
  /// The extents are in metres.
  public init(
    center centerCoordinate: CLLocationCoordinate2D, latitudinalMeters: CLLocationDistance,
    longitudinalMeters: CLLocationDistance
  ) {
    // A degree of latitude on a sphere with the earth's mean radius.
    let degree = 6_371_008.8 * Double.pi / 180
    let width = max(0.000_001, cos(centerCoordinate.latitude * .pi / 180))
    self.init(
      center: centerCoordinate,
      span: MKCoordinateSpan(
        latitudeDelta: latitudinalMeters / degree, longitudeDelta: longitudinalMeters / degree / width))
  }
}

/// Source: `MapKit.MKMapType`.
public enum MKMapType: UInt, Sendable {
  case standard, satellite, hybrid, satelliteFlyover, hybridFlyover, mutedStandard
}

/// Source: `MapKit.MKUserTrackingMode`.
public enum MKUserTrackingMode: Int, Sendable {
  case none, follow, followWithHeading
}

/// Source: `MapKit.MKPointOfInterestCategory`.
public struct MKPointOfInterestCategory: Hashable, RawRepresentable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public static let airport = MKPointOfInterestCategory(rawValue: "MKPOICategoryAirport")
  public static let cafe = MKPointOfInterestCategory(rawValue: "MKPOICategoryCafe")
  public static let hospital = MKPointOfInterestCategory(rawValue: "MKPOICategoryHospital")
  public static let hotel = MKPointOfInterestCategory(rawValue: "MKPOICategoryHotel")
  public static let museum = MKPointOfInterestCategory(rawValue: "MKPOICategoryMuseum")
  public static let park = MKPointOfInterestCategory(rawValue: "MKPOICategoryPark")
  public static let parking = MKPointOfInterestCategory(rawValue: "MKPOICategoryParking")
  public static let publicTransport = MKPointOfInterestCategory(rawValue: "MKPOICategoryPublicTransport")
  public static let restaurant = MKPointOfInterestCategory(rawValue: "MKPOICategoryRestaurant")
  public static let school = MKPointOfInterestCategory(rawValue: "MKPOICategorySchool")
  public static let store = MKPointOfInterestCategory(rawValue: "MKPOICategoryStore")
}

/// Source: `MapKit.MKPointOfInterestFilter`.
public final class MKPointOfInterestFilter: NSObject, Sendable {
  private let categories: Set<MKPointOfInterestCategory>
  private let isExcluding: Bool

  private init(_ categories: [MKPointOfInterestCategory], isExcluding: Bool) {
    self.categories = Set(categories)
    self.isExcluding = isExcluding
  }
  public convenience init(including categories: [MKPointOfInterestCategory]) {
    self.init(categories, isExcluding: false)
  }
  public convenience init(excluding categories: [MKPointOfInterestCategory]) {
    self.init(categories, isExcluding: true)
  }
  public static let includingAll = MKPointOfInterestFilter([], isExcluding: true)
  public static let excludingAll = MKPointOfInterestFilter([], isExcluding: false)
  public func includes(_ category: MKPointOfInterestCategory) -> Bool { categories.contains(category) != isExcluding }
  public func excludes(_ category: MKPointOfInterestCategory) -> Bool { !includes(category) }
}
