// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Encodes the values of a model as the content of its record, an object of JSON.
struct RecordCoder {
  private let entity: Schema.Entity
  private let encoder = JSONEncoder()
  private let decoder = JSONDecoder()

  private static let infinity = (positive: "inf", negative: "-inf", none: "nan")

  init(_ entity: Schema.Entity) {
    self.entity = entity
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: Self.infinity.positive, negativeInfinity: Self.infinity.negative, nan: Self.infinity.none)
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: Self.infinity.positive, negativeInfinity: Self.infinity.negative, nan: Self.infinity.none)
  }

  func encode(_ values: [String: any AttributeValue]) throws -> Data {
    try encoder.encode(Content(entity: entity, values: values))
  }

  /// A value that is absent, such as that of a new property, is not in the result.
  func decode(_ data: Data) throws -> [String: any AttributeValue] {
    try decoder.decode(Content.self, from: data, configuration: entity).values
  }

  /// A text that is equal for equal values of properties; `nil` when one of them has none.
  func key(_ properties: [String], of values: [String: any AttributeValue]) throws -> String? {
    let chosen = values.filter { properties.contains($0.key) }
    let text = String(decoding: try encoder.encode(Content(entity: entity, values: chosen)), as: UTF8.self)
    let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
    return properties.allSatisfy { object[$0].map { !($0 is NSNull) } ?? false } ? text : nil
  }

  private struct Content: Encodable, DecodableWithConfiguration {
    let entity: Schema.Entity
    let values: [String: any AttributeValue]

    init(entity: Schema.Entity, values: [String: any AttributeValue]) { (self.entity, self.values) = (entity, values) }

    init(from decoder: any Decoder, configuration entity: Schema.Entity) throws {
      let container = try decoder.container(keyedBy: PropertyKey.self)
      var values: [String: any AttributeValue] = [:]
      for property in entity.attributes {
        guard let coding = property.coding else { continue }
        if let value = try coding.decode(container, property.name) {
          values[property.name] = value
        } else if let original = property.metadata?.originalName, !original.isEmpty {
          values[property.name] = try coding.decode(container, original)
        }
      }
      self.init(entity: entity, values: values)
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: PropertyKey.self)
      for property in entity.attributes where !property.isEphemeral {
        if let value = values[property.name] { try property.coding?.encode(value, &container) }
      }
    }
  }
}

extension Schema.PropertyMetadata {
  var isEphemeral: Bool { (metadata as? Schema.Attribute)?.options.contains(.ephemeral) == true }
}
