import Conversations
public import Foundation
import Synchronization

/// How a session behaves. Source: `Foundation.URLSessionConfiguration`. Only background configurations exist here so far.
///
/// It is copied when a session is made; later changes do nothing.
public final class URLSessionConfiguration: NSObject, NSCopying, Sendable {
  struct Values: Sendable {
    let identifier: String
    var sent = SessionConfiguration()
    var allowsCellularAccess = true
    var allowsExpensiveNetworkAccess = true
    var allowsConstrainedNetworkAccess = true
    var waitsForConnectivity = false
    var shouldUseExtendedBackgroundIdleMode = false
  }

  private let storage: Mutex<Values>

  init(_ values: Values) {
    storage = Mutex(values)
  }

  var values: Values { storage.withLock { $0 } }

  private subscript<Value: Sendable>(_ path: any WritableKeyPath<Values, Value> & Sendable) -> Value {
    get { storage.withLock { $0[keyPath: path] } }
    set { storage.withLock { $0[keyPath: path] = newValue } }
  }

  /// A configuration whose transfers the host system performs while the process is suspended or dead.
  ///
  /// - Parameter identifier: not empty; unique within the process's bundle, and the same after a relaunch.
  public class func background(withIdentifier identifier: String) -> URLSessionConfiguration {
    precondition(!identifier.isEmpty, "a background session needs an identifier that is not empty")
    return URLSessionConfiguration(Values(identifier: identifier))
  }

  /// The identifier of the background session.
  public var identifier: String? { values.identifier }

  /// The app group whose folder takes the downloads. Required in an extension: without it the session is invalidated
  /// with `backgroundSessionRequiresSharedContainer` (-995).
  public var sharedContainerIdentifier: String? {
    get { self[\.sent.sharedContainerIdentifier] }
    set { self[\.sent.sharedContainerIdentifier] = newValue }
  }

  /// Whether the process is resumed or launched when the session's tasks have ended.
  public var sessionSendsLaunchEvents: Bool {
    get { self[\.sent.sessionSendsLaunchEvents] }
    set { self[\.sent.sessionSendsLaunchEvents] = newValue }
  }

  /// Whether the system may choose the time of the transfers.
  public var isDiscretionary: Bool {
    get { self[\.sent.isDiscretionary] }
    set { self[\.sent.isDiscretionary] = newValue }
  }

  /// Seconds without data after which a transfer is tried again.
  public var timeoutIntervalForRequest: TimeInterval {
    get { self[\.sent.timeoutIntervalForRequest] }
    set { self[\.sent.timeoutIntervalForRequest] = newValue }
  }

  /// Seconds that a transfer may take in all, waiting and further tries included.
  public var timeoutIntervalForResource: TimeInterval {
    get { self[\.sent.timeoutIntervalForResource] }
    set { self[\.sent.timeoutIntervalForResource] = newValue }
  }

  /// How many connections to one host the session may use at a time.
  public var httpMaximumConnectionsPerHost: Int {
    get { self[\.sent.httpMaximumConnectionsPerHost] }
    set { self[\.sent.httpMaximumConnectionsPerHost] = newValue }
  }

  /// Header fields for all requests that do not set them themselves. Names and values are texts.
  public var httpAdditionalHeaders: [AnyHashable: Any]? {
    get {
      let fields = self[\.sent.httpAdditionalHeaders].map { (AnyHashable($0[0]), $0[1] as Any) }
      return fields.isEmpty ? nil : Dictionary(fields) { $1 }
    }
    set {
      self[\.sent.httpAdditionalHeaders] = (newValue ?? [:]).map { ["\($0.key.base)", "\($0.value)"] }
        .sorted { $0[0] < $1[0] }
    }
  }

  /// Kept: the device has one kind of network.
  public var allowsCellularAccess: Bool {
    get { self[\.allowsCellularAccess] }
    set { self[\.allowsCellularAccess] = newValue }
  }

  /// Kept: the device has one kind of network.
  public var allowsExpensiveNetworkAccess: Bool {
    get { self[\.allowsExpensiveNetworkAccess] }
    set { self[\.allowsExpensiveNetworkAccess] = newValue }
  }

  /// Kept: the device has one kind of network.
  public var allowsConstrainedNetworkAccess: Bool {
    get { self[\.allowsConstrainedNetworkAccess] }
    set { self[\.allowsConstrainedNetworkAccess] = newValue }
  }

  /// Kept: a background session always waits (documented).
  public var waitsForConnectivity: Bool {
    get { self[\.waitsForConnectivity] }
    set { self[\.waitsForConnectivity] = newValue }
  }

  /// Kept: it is about sessions that are not background sessions (documented).
  public var shouldUseExtendedBackgroundIdleMode: Bool {
    get { self[\.shouldUseExtendedBackgroundIdleMode] }
    set { self[\.shouldUseExtendedBackgroundIdleMode] = newValue }
  }

  /// A configuration with the same values.
  public override func copy() -> Any { copy(with: nil) }
  /// A configuration with the same values.
  public func copy(with zone: NSZone? = nil) -> Any { URLSessionConfiguration(values) }
}
