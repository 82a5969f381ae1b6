// SPDX-License-Identifier: Apache-2.0

public import CoreLocation
public import Foundation
public import UIKit

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
