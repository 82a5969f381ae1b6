// SPDX-License-Identifier: Apache-2.0

/// Rules for an author's process that Apple does not document. Source of the values: Documentation/fidelity.
package struct ProcessRules: Codable, Hashable, Sendable {
  /// How long a call on an author's thread waits for the host. Seconds.
  package var callDeadline = 5.0
  /// A request that the process performs itself fails with -1007 after this many redirections.
  package var inlineRedirectLimit = 20
  /// Whether the first completion of several matching handlers acknowledges a session's events, instead of the last.
  package var firstCompletionCounts = false
  /// Whether calls of a provider may overlap, on several threads.
  package var callsProvidersConcurrently = false

  package init() {}
}
