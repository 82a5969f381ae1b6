import Conversations

/// Documentation/protocol.md, made from the table of conversations and the layout of the wire.
enum ProtocolPage {
  /// The whole page, ending in a newline.
  static var text: String { [introduction, layout, kinds, details, refusals].joined(separator: "\n\n") + "\n" }

  private static let introduction = """
    # The protocol of the bus

    Written by `widgetlab protocol` from `ConversationTable` and `Wire`; do not edit it by hand.

    Every message is one ZeroMQ frame: a header of \(Wire.headerLength) bytes, the two addresses, and a body of JSON. The
    broker routes on the header, stamps sequence and generations, refuses what the table below does not allow, and writes
    each envelope to the journal before it forwards it. The tap (an XPUB socket) shows the same frames; its prefix filter
    works on the first bytes, version and kind.
    """

  private static let fields: [(offset: String, size: String, meaning: String)] = [
    ("0", "1", "version, \(Wire.version)"),
    ("1", "\(Kind.maximumLength)", "kind, ASCII, padded with NUL"),
    ("32", "8", "sequence, stamped by the broker; 0 before"),
    ("40", "8", "sent at, microseconds since 1970-01-01 00:00:00 UTC"),
    ("48", "16", "id (UUID, in the order of its text)"),
    ("64", "16", "cause: the envelope that this one answers or follows from; zero for none"),
    ("80", "16", "correlation: one id for a whole story; zero for none"),
    ("96", "4", "generation of the source, stamped by the broker"),
    ("100", "4", "generation of the destination, stamped by the broker; 0 when nobody was there"),
    ("104", "2", "length of the source address"),
    ("106", "2", "length of the destination address"),
    ("108", "4", "length of the body, at most \(Wire.bodyLimit)"),
    ("112", "2", "attempt: how often the sender has sent this envelope before"),
    ("114", "6", "zero"),
    ("\(Wire.headerLength)", "", "source address, destination address, body"),
  ]

  private static var layout: String {
    let rows = fields.map { "| \($0.offset) | \($0.size) | \($0.meaning) |" }
    return
      (["## Layout", "", "All integers are little-endian.", "", "| offset | size | field |", "| --- | --- | --- |"]
      + rows).joined(separator: "\n")
  }

  private static var kinds: String {
    let rows = ConversationTable.all.map { entry in
      "| `\(entry.kind.name)` | \(entry.style.rawValue) | \(routes(entry)) | \(entry.summary) |"
    }
    return
      ([
        "## Kinds", "",
        "A *request* is answered by its kind with `/ok` or `/failed`, an *event* is sent again until its kind",
        "with `/ack` (or `/failed`) comes back, a *notice* is answered by nobody.", "",
        "| kind | style | who to whom | what it says |", "| --- | --- | --- | --- |",
      ] + rows).joined(separator: "\n")
  }

  private static func routes(_ entry: ConversationEntry) -> String {
    var order: [[Role]] = []
    var destinations: [[Role]: [String]] = [:]
    for route in entry.routes {
      if destinations[route.sources] == nil { order.append(route.sources) }
      destinations[route.sources, default: []].append(route.destination.rawValue)
    }
    return order.map { sources in
      "\(sources.map(\.rawValue).joined(separator: ", ")) → \((destinations[sources] ?? []).joined(separator: ", "))"
    }.joined(separator: "; ")
  }

  private static var details: String {
    let rows = ConversationTable.all.map { "| `\($0.kind.name)` | \($0.failure) |" }
    return (["## What a failure means to the sender", "", "| kind | failure |", "| --- | --- |"] + rows)
      .joined(separator: "\n")
  }

  private static let refusals = """
    ## Who may speak

    A key belongs to a role and to a pattern of addresses; the broker reads the role from the key and compares it on every
    message. What may not be said is answered with `bus.refused` and written down; a connection without a known key is
    turned away before it can say anything, and `peer.turned-away` stands in the journal.
    """
}
