// SPDX-License-Identifier: Apache-2.0

/// Why a cluster cannot be started or reached. Definite: nothing was done.
package struct ClusterError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The open set of reasons.
  package struct Code: RawRepresentable, Hashable, Sendable {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }
    package init(_ rawValue: String) { self.rawValue = rawValue }

    /// `widgetlab.yaml` cannot be read or is invalid.
    package static let configuration = Code("configuration")
    /// A file or folder of the instance could not be read or written.
    package static let folder = Code("instance-folder")
    /// A standing key is missing or damaged.
    package static let key = Code("key")
    /// A timeout while waiting for a process or a file.
    package static let notThere = Code("not-there")
    /// The limits of the process are too low.
    package static let limit = Code("limit")
    /// `${…}` has a name whose value is not known yet.
    package static let expansion = Code("expansion")
  }

  package let code: Code
  /// What happened, where, and what to do.
  package let message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package var description: String { message }
}
