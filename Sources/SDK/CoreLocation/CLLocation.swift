// SPDX-License-Identifier: Apache-2.0

import Archive
@_exported public import Foundation

/// Degrees.
public typealias CLLocationDegrees = Double
/// Metres.
public typealias CLLocationDistance = Double
/// Metres.
public typealias CLLocationAccuracy = Double
/// Metres per second.
public typealias CLLocationSpeed = Double
/// Degrees from the north.
public typealias CLLocationDirection = Double

public let kCLLocationAccuracyBestForNavigation: CLLocationAccuracy = -2
public let kCLLocationAccuracyBest: CLLocationAccuracy = -1
public let kCLLocationAccuracyNearestTenMeters: CLLocationAccuracy = 10
public let kCLLocationAccuracyHundredMeters: CLLocationAccuracy = 100
public let kCLLocationAccuracyKilometer: CLLocationAccuracy = 1000
public let kCLLocationAccuracyThreeKilometers: CLLocationAccuracy = 3000
public let kCLLocationAccuracyReduced: CLLocationAccuracy = 5000
public let kCLDistanceFilterNone: CLLocationDistance = -1
public let CLLocationDistanceMax: CLLocationDistance = .greatestFiniteMagnitude

/// A place. Source: `CoreLocation.CLLocationCoordinate2D`.
public struct CLLocationCoordinate2D: Sendable {
  public var latitude: CLLocationDegrees
  public var longitude: CLLocationDegrees
  public init() { self.init(latitude: 0, longitude: 0) }
  public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
    self.latitude = latitude
    self.longitude = longitude
  }
}

public let kCLLocationCoordinate2DInvalid = CLLocationCoordinate2D(latitude: -180, longitude: -180)

public func CLLocationCoordinate2DMake(
  _ latitude: CLLocationDegrees, _ longitude: CLLocationDegrees
) -> CLLocationCoordinate2D {
  CLLocationCoordinate2D(latitude: latitude, longitude: longitude)
}

public func CLLocationCoordinate2DIsValid(_ coord: CLLocationCoordinate2D) -> Bool {
  abs(coord.latitude) <= 90 && abs(coord.longitude) <= 180
}

/// A place with a time. Source: `CoreLocation.CLLocation`.
open class CLLocation: NSObject {
  public let coordinate: CLLocationCoordinate2D
  public let altitude: CLLocationDistance
  public let ellipsoidalAltitude: CLLocationDistance
  public let horizontalAccuracy: CLLocationAccuracy
  public let verticalAccuracy: CLLocationAccuracy
  public let course: CLLocationDirection
  public let speed: CLLocationSpeed
  public let timestamp: Date

  public convenience init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
    self.init(
      coordinate: CLLocationCoordinate2D(latitude: latitude, longitude: longitude), altitude: 0, horizontalAccuracy: 0,
      verticalAccuracy: -1, timestamp: Date())
  }
  public convenience init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance, horizontalAccuracy: CLLocationAccuracy,
    verticalAccuracy: CLLocationAccuracy, timestamp: Date
  ) {
    self.init(
      coordinate: coordinate, altitude: altitude, horizontalAccuracy: horizontalAccuracy,
      verticalAccuracy: verticalAccuracy, course: -1, speed: -1, timestamp: timestamp)
  }
  public init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance, horizontalAccuracy: CLLocationAccuracy,
    verticalAccuracy: CLLocationAccuracy, course: CLLocationDirection, speed: CLLocationSpeed, timestamp: Date
  ) {
    self.coordinate = coordinate
    self.altitude = altitude
    ellipsoidalAltitude = altitude
    self.horizontalAccuracy = horizontalAccuracy
    self.verticalAccuracy = verticalAccuracy
    self.course = course
    self.speed = speed
    self.timestamp = timestamp
  }

  convenience init(_ place: DeviceLocation) {
    self.init(
      coordinate: CLLocationCoordinate2D(latitude: place.latitude, longitude: place.longitude), altitude: 0,
      horizontalAccuracy: 10, verticalAccuracy: -1, timestamp: Date())
  }

  /// Metres along a great circle of a sphere with the earth's mean radius. Apple uses an ellipsoid: it differs by up to
  /// 0.5 %.
  open func distance(from location: CLLocation) -> CLLocationDistance {
    let radius = 6_371_008.8
    let (a, b) = (coordinate, location.coordinate)
    let (first, second) = (a.latitude * .pi / 180, b.latitude * .pi / 180)
    let height = sin((second - first) / 2)
    let width = sin((b.longitude - a.longitude) * .pi / 360)
    let chord = height * height + cos(first) * cos(second) * width * width
    return 2 * radius * asin(min(1, chord.squareRoot()))
  }
}

/// Source: `CoreLocation.CLRegion`.
open class CLRegion: NSObject {
  public let identifier: String
  open var notifyOnEntry = true
  open var notifyOnExit = true
  init(identifier: String) { self.identifier = identifier }
}

/// A circle. Source: `CoreLocation.CLCircularRegion`.
open class CLCircularRegion: CLRegion {
  public let center: CLLocationCoordinate2D
  /// In metres.
  public let radius: CLLocationDistance

  public init(center: CLLocationCoordinate2D, radius: CLLocationDistance, identifier: String) {
    self.center = center
    self.radius = radius
    super.init(identifier: identifier)
  }
  open func contains(_ coordinate: CLLocationCoordinate2D) -> Bool {
    CLLocation(latitude: center.latitude, longitude: center.longitude)
      .distance(from: CLLocation(latitude: coordinate.latitude, longitude: coordinate.longitude)) <= radius
  }
}
