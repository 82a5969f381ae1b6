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

/// Source: `MapKit.MKMapViewDelegate`. No map is shown here, so it has no calls.
public protocol MKMapViewDelegate: NSObjectProtocol {}

/// A map. Source: `MapKit.MKMapView`. It keeps its properties; a widget cannot show it, and nothing is drawn.
@MainActor open class MKMapView: UIView {
  open weak var delegate: (any MKMapViewDelegate)?
  open var mapType = MKMapType.standard
  open var region = MKCoordinateRegion()
  open var centerCoordinate: CLLocationCoordinate2D {
    get { region.center }
    set { region.center = newValue }
  }
  open var showsUserLocation = false
  open var userTrackingMode = MKUserTrackingMode.none
  open var isZoomEnabled = true
  open var isScrollEnabled = true
  open var isRotateEnabled = true
  open var isPitchEnabled = true
  open var showsCompass = true
  open var showsScale = false
  open var showsTraffic = false
  open var pointOfInterestFilter: MKPointOfInterestFilter?

  open func setRegion(_ region: MKCoordinateRegion, animated: Bool) { self.region = region }
  open func setCenter(_ coordinate: CLLocationCoordinate2D, animated: Bool) { centerCoordinate = coordinate }
  open func setUserTrackingMode(_ mode: MKUserTrackingMode, animated: Bool) { userTrackingMode = mode }
}

/// Draws a map as an image. Source: `MapKit.MKMapSnapshotter`. There are no maps here: each request fails with
/// `MKError.serverFailure`, as on a phone without a network.
open class MKMapSnapshotter: NSObject {
  /// Source: `MapKit.MKMapSnapshotter.Options`.
  open class Options: NSObject {
    open var region = MKCoordinateRegion()
    open var size = CGSize(width: 256, height: 256)
    open var scale: CGFloat = 1
    open var mapType = MKMapType.standard
    open var traitCollection = UITraitCollection()
    open var pointOfInterestFilter: MKPointOfInterestFilter?
    public override init() { super.init() }
  }

  /// Source: `MapKit.MKMapSnapshotter.Snapshot`. No request gives one.
  open class Snapshot: NSObject {
    public let image: UIImage
    init(_ image: UIImage) { self.image = image }
    /// Ends the process: there are no maps.
    open func point(for coordinate: CLLocationCoordinate2D) -> CGPoint {
      fatalError("MKMapSnapshotter.Snapshot.point(for:): WidgetLab has no maps")
    }
  }

  public init(options: Options) { super.init() }
  open private(set) var isLoading = false

  open func start(completionHandler: @escaping (Snapshot?, (any Error)?) -> Void) {
    start(with: .main, completionHandler: completionHandler)
  }
  open func start(with queue: DispatchQueue, completionHandler: @escaping (Snapshot?, (any Error)?) -> Void) {
    // Called once, on the queue.
    nonisolated(unsafe) let completionHandler = completionHandler
    queue.async { completionHandler(nil, MKError(.serverFailure)) }
  }
  open func start() async throws -> Snapshot { throw MKError(.serverFailure) }
  open func cancel() {}
}

/// Source: `MapKit.MKError`.
public struct MKError: Error, Hashable, Sendable, CustomNSError {
  /// Source: `MapKit.MKError.Code`.
  public enum Code: UInt, Sendable {
    case unknown = 1
    case serverFailure, loadingThrottled, placemarkNotFound, directionsNotFound, decodingFailed
  }

  public let code: Code
  public init(_ code: Code) { self.code = code }
  public static var errorDomain: String { "MKErrorDomain" }
  public var errorCode: Int { Int(code.rawValue) }
}
