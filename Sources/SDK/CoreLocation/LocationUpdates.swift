// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
public import Foundation
import Synchronization

/// Source: `CoreLocation.CLAuthorizationStatus`.
public enum CLAuthorizationStatus: Int32, Sendable {
  case notDetermined = 0
  case restricted = 1
  case denied = 2
  case authorizedAlways = 3
  case authorizedWhenInUse = 4
}

/// Source: `CoreLocation.CLAccuracyAuthorization`.
public enum CLAccuracyAuthorization: Int, Sendable {
  case fullAccuracy = 0
  case reducedAccuracy = 1
}

/// Source: `CoreLocation.CLActivityType`.
public enum CLActivityType: Int, Sendable {
  case other = 1
  case automotiveNavigation, fitness, otherNavigation, airborne
}

/// Source: `CoreLocation.CLError`.
public struct CLError: Error, Hashable, Sendable, CustomNSError {
  /// Source: `CoreLocation.CLError.Code`.
  public enum Code: Int, Sendable {
    case locationUnknown = 0
    case denied = 1
    case network = 2
    case headingFailure = 3
    case geocodeFoundNoResult = 8
    case geocodeFoundPartialResult = 9
    case geocodeCanceled = 10
  }

  public let code: Code
  public init(_ code: Code) { self.code = code }
  public static var errorDomain: String { "kCLErrorDomain" }
  public var errorCode: Int { code.rawValue }
  public static let locationUnknown = Code.locationUnknown
  public static let denied = Code.denied
  public static let network = Code.network
}

/// Receives locations. Source: `CoreLocation.CLLocationManagerDelegate`; every method is optional.
public protocol CLLocationManagerDelegate: NSObjectProtocol {
  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation])
  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error)
  func locationManager(_ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus)
  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager)
}

extension CLLocationManagerDelegate {
  public func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {}
  public func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {}
  public func locationManager(_ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus) {}
  public func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {}
}

/// Gives the location of the device, which `widgetlab device location` sets. Source: `CoreLocation.CLLocationManager`.
/// The delegate is called on the main thread.
open class CLLocationManager: NSObject {
  open weak var delegate: (any CLLocationManagerDelegate)? {
    didSet { if delegate != nil { tellAuthorization() } }
  }
  /// Has no effect: the location is exact.
  open var desiredAccuracy = kCLLocationAccuracyBest
  /// In metres. A smaller move is not reported.
  open var distanceFilter = kCLDistanceFilterNone
  /// Has no effect.
  open var activityType = CLActivityType.other
  /// Has no effect.
  open var allowsBackgroundLocationUpdates = false
  /// Has no effect.
  open var pausesLocationUpdatesAutomatically = true

  private let place = HostedProcess.current.map(DevicePlace.of)
  private var reported: CLLocation?
  private var updates: Int?

  public override init() { super.init() }

  deinit { if let updates { place?.forget(updates) } }

  open class func locationServicesEnabled() -> Bool { true }
  open class func significantLocationChangeMonitoringAvailable() -> Bool { true }
  open class func headingAvailable() -> Bool { false }
  open class func authorizationStatus() -> CLAuthorizationStatus { CLLocationManager().authorizationStatus }

  /// The user's choice: `widgetlab setting location-access`. Here it is not necessary to ask for it.
  open var authorizationStatus: CLAuthorizationStatus { place?.state.isDenied == true ? .denied : .authorizedWhenInUse }
  open var accuracyAuthorization: CLAccuracyAuthorization { .fullAccuracy }
  /// Whether widgets may use the location. Source: `NSWidgetWantsLocation` in the extension's `Info.plist`.
  open var isAuthorizedForWidgetUpdates: Bool {
    authorizationStatus != .denied && Bundle.main.object(forInfoDictionaryKey: "NSWidgetWantsLocation") as? Bool == true
  }

  /// The location; `nil` when the device does not know it, or it is denied.
  open var location: CLLocation? {
    guard let state = place?.state, !state.isDenied else { return nil }
    return state.location.map { CLLocation($0) }
  }

  /// Reports the authorization, which the user has decided already.
  open func requestWhenInUseAuthorization() { tellAuthorization() }
  /// Reports the authorization, which the user has decided already.
  open func requestAlwaysAuthorization() { tellAuthorization() }

  /// Reports the location or an error, once.
  open func requestLocation() { onMain { $0.report(isRepeated: true) } }

  /// Reports the location, and each change of it.
  open func startUpdatingLocation() {
    onMain { $0.report(isRepeated: true) }
    observe()
  }
  open func stopUpdatingLocation() {
    if let updates { place?.forget(updates) }
    updates = nil
  }
  open func startMonitoringSignificantLocationChanges() { startUpdatingLocation() }
  open func stopMonitoringSignificantLocationChanges() { stopUpdatingLocation() }

  private func observe() {
    guard updates == nil else { return }
    // Used only on the main thread.
    nonisolated(unsafe) weak let this = self
    updates = place?.observe { _ in DispatchQueue.main.async { this?.report(isRepeated: false) } }
  }

  /// - Parameter isRepeated: whether a location that was reported is reported again.
  private func report(isRepeated: Bool) {
    guard let location else {
      let code: CLError.Code = authorizationStatus == .denied ? .denied : .locationUnknown
      delegate?.locationManager(self, didFailWithError: CLError(code))
      return
    }
    if let reported, !isRepeated, location.distance(from: reported) <= max(0, distanceFilter) { return }
    reported = location
    delegate?.locationManager(self, didUpdateLocations: [location])
  }

  private func tellAuthorization() {
    onMain { manager in
      manager.delegate?.locationManagerDidChangeAuthorization(manager)
      manager.delegate?.locationManager(manager, didChangeAuthorization: manager.authorizationStatus)
    }
  }

  private func onMain(_ body: @escaping @Sendable (CLLocationManager) -> Void) {
    // Given to the author's delegate on the main thread, as Core Location does.
    nonisolated(unsafe) let this = self
    DispatchQueue.main.async { body(this) }
  }
}

/// A location as a sequence delivers it. Source: `CoreLocation.CLLocationUpdate`.
public struct CLLocationUpdate: Sendable {
  // A location does not change.
  nonisolated(unsafe) public let location: CLLocation?
  public let isStationary = false

  /// Source: `CLLocationUpdate.LiveConfiguration`.
  public enum LiveConfiguration: Int, Sendable {
    case `default`, automotiveNavigation, otherNavigation, fitness, airborne
  }

  /// Source: `CLLocationUpdate.Updates`.
  public struct Updates: AsyncSequence, Sendable {
    public typealias Element = CLLocationUpdate

    /// Source: `CLLocationUpdate.Updates.Iterator`.
    public struct Iterator: AsyncIteratorProtocol {
      fileprivate var updates: AsyncStream<CLLocationUpdate>.Iterator
      public mutating func next() async throws -> CLLocationUpdate? { try await next(isolation: #isolation) }
      public mutating func next(isolation actor: isolated (any Actor)?) async throws -> CLLocationUpdate? {
        await updates.next(isolation: actor)
      }
    }

    public func makeAsyncIterator() -> Iterator {
      let (stream, continuation) = AsyncStream.makeStream(of: CLLocationUpdate.self)
      guard let place = HostedProcess.current.map(DevicePlace.of) else {
        continuation.finish()
        return Iterator(updates: stream.makeAsyncIterator())
      }
      let give: @Sendable (DevicePlace.State) -> Void = { state in
        let location = state.isDenied ? nil : state.location.map { CLLocation($0) }
        continuation.yield(CLLocationUpdate(location: location))
      }
      give(place.state)
      let number = place.observe(give)
      continuation.onTermination = { _ in place.forget(number) }
      return Iterator(updates: stream.makeAsyncIterator())
    }
  }

  public static func liveUpdates(_ configuration: LiveConfiguration = .default) -> Updates { Updates() }
}
