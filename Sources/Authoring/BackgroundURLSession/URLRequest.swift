import Conversations
public import Foundation

/// The enumerations of a request. Source: `Foundation.NSURLRequest`; a request itself is a `URLRequest`.
public enum NSURLRequest {
  /// What a request may take from a cache. Source: `Foundation.NSURLRequest.CachePolicy`.
  public enum CachePolicy: UInt, Sendable {
    /// As the protocol says.
    case useProtocolCachePolicy = 0
    /// Nothing from the local cache.
    case reloadIgnoringLocalCacheData = 1
    /// What is cached, however old it is; else a request.
    case returnCacheDataElseLoad = 2
    /// What is cached, however old it is; else a failure.
    case returnCacheDataDontLoad = 3
    /// Nothing from any cache.
    case reloadIgnoringLocalAndRemoteCacheData = 4
    /// What is cached, when the server says that it still holds.
    case reloadRevalidatingCacheData = 5

    /// The older name.
    public static var reloadIgnoringCacheData: CachePolicy { .reloadIgnoringLocalCacheData }
  }

  /// What the traffic is for. Source: `Foundation.NSURLRequest.NetworkServiceType`.
  public enum NetworkServiceType: UInt, Sendable {
    /// Nothing special.
    case `default` = 0
    /// Voice over IP.
    case voip = 1
    /// Video.
    case video = 2
    /// Background traffic.
    case background = 3
    /// Voice.
    case voice = 4
    /// Data that a person waits for.
    case responsiveData = 6
    /// Streamed audio or video.
    case avStreaming = 8
    /// Audio or video that answers at once.
    case responsiveAV = 9
    /// Signalling of calls.
    case callSignaling = 11
  }
}

/// A request for a URL. Source: `Foundation.URLRequest`.
public struct URLRequest: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
  /// What a request may take from a cache.
  public typealias CachePolicy = NSURLRequest.CachePolicy
  /// What the traffic is for.
  public typealias NetworkServiceType = NSURLRequest.NetworkServiceType

  /// Where the request goes.
  public var url: URL?
  /// What may be taken from a cache.
  public var cachePolicy: CachePolicy
  /// The document that this request is a part of.
  public var mainDocumentURL: URL?
  /// What the traffic is for. Kept: the device has one kind of traffic.
  public var networkServiceType = NetworkServiceType.default
  /// Whether a cellular network will do.
  public var allowsCellularAccess = true
  /// Whether an expensive network will do.
  public var allowsExpensiveNetworkAccess = true
  /// Whether a network that is to be used sparingly will do.
  public var allowsConstrainedNetworkAccess = true
  /// Whether the server is known for HTTP/3. Kept: requests go out over HTTP/1.1 or HTTP/2.
  public var assumesHTTP3Capable = false
  /// Whether cookies are put into the request and taken from the response.
  public var httpShouldHandleCookies = true
  /// Whether the request may go out before the answer to an earlier one is there. Kept: none does.
  public var httpShouldUsePipelining = false
  /// What is sent.
  public var httpBody: Data?
  /// Where what is sent is read from.
  public var httpBodyStream: InputStream? {
    get { stream }
    set { stream = newValue }
  }
  private var method = "GET"
  private var fields: [Field] = []
  /// What the author has set; the session's otherwise.
  private(set) var ownTimeout: TimeInterval?
  // A stream is read once, by whoever performs the request; Apple's URLRequest carries it in the same way.
  nonisolated(unsafe) private var stream: InputStream?

  private struct Field: Hashable, Sendable {
    let name: String
    var value: String

    func isNamed(_ other: String) -> Bool { name.lowercased() == other.lowercased() }
  }

  /// A `GET` of a URL. A time-out of 60 seconds, which is what it is unless it is set, leaves the session its own.
  public init(
    url: URL, cachePolicy: CachePolicy = .useProtocolCachePolicy, timeoutInterval: TimeInterval = URLRequest.timeout
  ) {
    self.url = url
    self.cachePolicy = cachePolicy
    ownTimeout = timeoutInterval == URLRequest.timeout ? nil : timeoutInterval
  }

  /// A request of resume data, of which nobody but its maker knows the URL.
  init(nothing: Void) { cachePolicy = .useProtocolCachePolicy }

  /// The time-out of a request that sets none.
  public static var timeout: TimeInterval { 60 }

  /// Seconds without data after which the request fails or, in a background session, is tried again.
  public var timeoutInterval: TimeInterval {
    get { ownTimeout ?? URLRequest.timeout }
    set { ownTimeout = newValue }
  }

  /// The method, in upper case. `GET` unless set.
  public var httpMethod: String? {
    get { method }
    set { method = newValue ?? "GET" }
  }

  /// The header fields. Names are compared without regard to case.
  public var allHTTPHeaderFields: [String: String]? {
    get { fields.isEmpty ? nil : Dictionary(fields.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 }) }
    set {
      fields = (newValue ?? [:]).sorted { $0.key < $1.key }.map { Field(name: $0.key, value: $0.value) }
    }
  }

  /// The value of a header field.
  public func value(forHTTPHeaderField field: String) -> String? {
    fields.first { $0.isNamed(field) }?.value
  }

  /// Sets a header field, or removes it with `nil`.
  public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {
    guard let value else { return fields.removeAll { $0.isNamed(field) } }
    guard let index = fields.firstIndex(where: { $0.isNamed(field) }) else {
      return fields.append(Field(name: field, value: value))
    }
    fields[index].value = value
  }

  /// Adds a value to a header field, after a comma where it has one already.
  public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {
    setValue(self.value(forHTTPHeaderField: field).map { "\($0),\(value)" } ?? value, forHTTPHeaderField: field)
  }

  /// The URL.
  public var description: String { url?.absoluteString ?? "url: nil" }
  /// The URL.
  public var debugDescription: String { description }
}

extension URLRequest {
  /// The request as it travels.
  var transfer: TransferRequest {
    TransferRequest(
      url: url?.absoluteString ?? "", method: method, headers: fields.map { [$0.name, $0.value] }, body: httpBody,
      timeoutInterval: ownTimeout, allowsCellularAccess: allowsCellularAccess,
      allowsExpensiveNetworkAccess: allowsExpensiveNetworkAccess,
      allowsConstrainedNetworkAccess: allowsConstrainedNetworkAccess)
  }

  /// A request that came back from the host.
  init(_ transfer: TransferRequest) {
    cachePolicy = .useProtocolCachePolicy
    url = URL(string: transfer.url)
    method = transfer.method
    httpBody = transfer.body
    ownTimeout = transfer.timeoutInterval
    allowsCellularAccess = transfer.allowsCellularAccess
    allowsExpensiveNetworkAccess = transfer.allowsExpensiveNetworkAccess
    allowsConstrainedNetworkAccess = transfer.allowsConstrainedNetworkAccess
    for header in transfer.headers where header.count == 2 { addValue(header[1], forHTTPHeaderField: header[0]) }
  }
}
