import Conversations
public import Foundation

/// A request for a URL. Source: `Foundation.URLRequest`, of which it has what a background download uses.
public struct URLRequest: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
  /// Where the request goes.
  public var url: URL?
  /// The method, in upper case. `GET` unless set.
  public var httpMethod: String? = "GET"
  private var fields: [Field] = []

  private struct Field: Hashable, Sendable {
    let name: String
    var value: String

    func isNamed(_ other: String) -> Bool { name.lowercased() == other.lowercased() }
  }

  /// A `GET` of a URL.
  public init(url: URL) { self.url = url }

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

  /// The request as it travels.
  var transfer: TransferRequest {
    TransferRequest(
      url: url?.absoluteString ?? "", method: httpMethod ?? "GET", headers: fields.map { [$0.name, $0.value] })
  }

  /// A request that came back from the host.
  init(_ transfer: TransferRequest) {
    url = URL(string: transfer.url)
    httpMethod = transfer.method
    for header in transfer.headers where header.count == 2 { addValue(header[1], forHTTPHeaderField: header[0]) }
  }
}
