/// A cookie. Source: `Foundation.HTTPCookie`, of which only the policy exists here: an author's code cannot read cookies.
public enum HTTPCookie {
  /// Which cookies are kept. Source: `Foundation.HTTPCookie.AcceptPolicy`.
  public enum AcceptPolicy: UInt, Sendable {
    /// All.
    case always = 0
    /// None.
    case never = 1
    /// Those of the main document's domain.
    case onlyFromMainDocumentDomain = 2
  }
}
