// SPDX-License-Identifier: Apache-2.0

/// The arguments of a view or a modifier by their labels, or the parts of such an argument.
///
/// On the wire they are a JSON object. Labels of an extension with a newer SDK are kept, and so are names that are no
/// labels, such as those of an intent's parameters: both are in `values`.
package struct ArchivedArguments: Hashable, Sendable {
  /// By the labels on the wire.
  package var values: [String: ArchivedValue]

  package init(values: [String: ArchivedValue] = [:]) { self.values = values }

  package subscript(label: ArgumentLabel) -> ArchivedValue? {
    get { values[label.rawValue] }
    set { values[label.rawValue] = newValue }
  }

  package var isEmpty: Bool { values.isEmpty }
  package var count: Int { values.count }

  /// In the order of the labels.
  package var sorted: [(key: String, value: ArchivedValue)] { values.sorted { $0.key < $1.key } }

  /// Adds arguments, which replace those with the same label.
  package mutating func merge(_ others: ArchivedArguments) { values.merge(others.values) { $1 } }

  /// With other arguments, which replace those with the same label.
  package func merging(_ others: ArchivedArguments) -> ArchivedArguments {
    ArchivedArguments(values: values.merging(others.values) { $1 })
  }

  package func without(_ labels: ArgumentLabel...) -> ArchivedArguments {
    var rest = self
    for label in labels { rest[label] = nil }
    return rest
  }

  /// The arguments with these labels.
  package func only(_ labels: ArgumentLabel...) -> ArchivedArguments {
    var some = ArchivedArguments()
    for label in labels { some[label] = self[label] }
    return some
  }
}

extension ArchivedArguments: ExpressibleByDictionaryLiteral {
  /// Without the arguments that are `nil`.
  package init(dictionaryLiteral elements: (ArgumentLabel, ArchivedValue?)...) {
    values = Dictionary(minimumCapacity: elements.count)
    for (label, value) in elements { self[label] = value }
  }
}
