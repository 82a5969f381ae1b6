/// The rules that hold within an author's process and that Apple does not state. Source of the values:
/// Documentation/fidelity.md.
package struct ProcessRules: Codable, Hashable, Sendable {
  /// How long a call of an author's thread waits for the host. Seconds.
  package var callDeadline = 5.0
  /// After so many redirections a request that the process performs itself fails with -1007.
  package var inlineRedirectLimit = 20
  /// Of several matching handlers, the first completion acknowledges a session's events, and not the last.
  package var firstCompletionCounts = false

  package init() {}
}
