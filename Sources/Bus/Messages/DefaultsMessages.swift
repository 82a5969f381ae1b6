// SPDX-License-Identifier: Apache-2.0

package import Foundation

// The user defaults of the device's processes, for the operator, and what processes change in them.

/// A value of the user defaults: a property list.
package indirect enum DefaultsValue: Hashable, Sendable {
  case string(String)
  case integer(Int64)
  case real(Double)
  case bool(Bool)
  case date(Date)
  case data(Data)
  case array([DefaultsValue])
  case dictionary([String: DefaultsValue])
}

/// On the bus, an object with one key: `{"integer": 5}`. Dates are seconds since 1970, data is in Base64.
extension DefaultsValue: Codable {
  private enum CodingKeys: String, CodingKey { case string, integer, real, bool, date, data, array, dictionary }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    switch container.allKeys.first {
    case .string?: self = .string(try container.decode(String.self, forKey: .string))
    case .integer?: self = .integer(try container.decode(Int64.self, forKey: .integer))
    case .real?: self = .real(try container.decode(Double.self, forKey: .real))
    case .bool?: self = .bool(try container.decode(Bool.self, forKey: .bool))
    case .date?: self = .date(try container.decode(Date.self, forKey: .date))
    case .data?: self = .data(try container.decode(Data.self, forKey: .data))
    case .array?: self = .array(try container.decode([DefaultsValue].self, forKey: .array))
    case .dictionary?: self = .dictionary(try container.decode([String: DefaultsValue].self, forKey: .dictionary))
    case nil:
      throw DecodingError.dataCorrupted(
        DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "a value without a known type"))
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .string(let value): try container.encode(value, forKey: .string)
    case .integer(let value): try container.encode(value, forKey: .integer)
    case .real(let value): try container.encode(value, forKey: .real)
    case .bool(let value): try container.encode(value, forKey: .bool)
    case .date(let value): try container.encode(value, forKey: .date)
    case .data(let value): try container.encode(value, forKey: .data)
    case .array(let value): try container.encode(value, forKey: .array)
    case .dictionary(let value): try container.encode(value, forKey: .dictionary)
    }
  }
}

extension BusError.Code {
  /// The device has no such domain of user defaults, or it has no value. Definite.
  package static let noSuchDomain = BusError.Code("no-such-domain")
  /// The domain of user defaults has no such key. Definite.
  package static let noSuchKey = BusError.Code("no-such-key")
}

/// Requests domains of the user defaults. A domain is the identifier of an app group, the bundle identifier of an app
/// or an extension (its standard defaults), or `BUNDLE/SUITE` for another suite of a product.
///
/// Failures: `no-such-domain`, `no-such-key`.
package struct ReadDefaults: Request {
  package static let kind: Kind = "defaults.read"
  /// `nil`: the names of all domains, without their values.
  package let domain: String?
  /// Only this key; `nil`: all.
  package let key: String?
  package init(domain: String? = nil, key: String? = nil) {
    self.domain = domain
    self.key = key
  }

  package struct Reply: Codable, Hashable, Sendable {
    /// The domains that have a value, without a `domain` in the request.
    package let domains: [String]
    package let values: [String: DefaultsValue]
    package init(domains: [String] = [], values: [String: DefaultsValue] = [:]) {
      self.domains = domains
      self.values = values
    }
  }
}

/// The operator changes a domain of the user defaults: processes see it at their next read.
///
/// Failures: `no-such-domain`, `no-such-key`.
package struct WriteDefaults: Request {
  package static let kind: Kind = "defaults.write"
  package typealias Reply = Done
  package enum Change: Codable, Hashable, Sendable {
    case set(key: String, value: DefaultsValue)
    case remove(key: String)
    /// Removes all keys.
    case clear
  }
  package let domain: String
  package let change: Change
  package init(domain: String, change: Change) {
    self.domain = domain
    self.change = change
  }
}

/// Journal: the author's code changed user defaults. Changes that follow within a moment are in one notice.
package struct DefaultsChanged: Notice, Hashable {
  package static let kind: Kind = "defaults.changed"
  /// At most this number of keys is named.
  package static let namedKeys = 10
  /// As in `ReadDefaults`.
  package let domain: String
  /// The first changed keys, in order; each once.
  package let keys: [String]
  /// The number of changes, of all keys.
  package let changes: Int
  package init(domain: String, keys: [String], changes: Int) {
    self.domain = domain
    self.keys = keys
    self.changes = changes
  }
}
