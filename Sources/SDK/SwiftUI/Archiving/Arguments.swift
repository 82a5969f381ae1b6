// SPDX-License-Identifier: Apache-2.0

package import Archive
package import Foundation

/// A value of a modifier or a view that the archive can represent.
package protocol ArchivedArgument {
  /// The value without its Swift type.
  var archived: ArchivedValue { get }
}

extension Bool: ArchivedArgument {
  package var archived: ArchivedValue { .bool(self) }
}

extension Int: ArchivedArgument {
  package var archived: ArchivedValue { .number(Double(self)) }
}

extension Double: ArchivedArgument {
  package var archived: ArchivedValue { .number(self) }
}

extension CGFloat: ArchivedArgument {
  package var archived: ArchivedValue { .number(Double(self)) }
}

extension String: ArchivedArgument {
  package var archived: ArchivedValue { .string(self) }
}

extension Date: ArchivedArgument {
  package var archived: ArchivedValue { .date(self) }
}

extension URL: ArchivedArgument {
  package var archived: ArchivedValue { .string(absoluteString) }
}

extension CGPoint: ArchivedArgument {
  package var archived: ArchivedValue { .list([x.archived, y.archived]) }
}

extension CGSize: ArchivedArgument {
  package var archived: ArchivedValue { .record(["width": width.archived, "height": height.archived]) }
}

extension CGRect: ArchivedArgument {
  package var archived: ArchivedValue { .list([minX.archived, minY.archived, width.archived, height.archived]) }
}

extension Array: ArchivedArgument where Element: ArchivedArgument {
  package var archived: ArchivedValue { .list(map(\.archived)) }
}

/// An argument that is archived by its name, such as an enumeration's case.
protocol NamedArgument: ArchivedArgument {
  var name: String { get }
}

extension NamedArgument {
  package var archived: ArchivedValue { .string(name) }
}

/// An enumeration is archived as the name of its case.
extension NamedArgument {
  var name: String { "\(self)" }
}

extension ViewArchive {
  /// Creates an archive without the arguments that are `nil`.
  package init(
    _ name: ViewName, given arguments: [String: ArchivedValue?], children: [ViewArchive] = [],
    modifiers: [Modifier] = []
  ) {
    self.init(name, arguments.compactMapValues { $0 }, children: children, modifiers: modifiers)
  }
}
