/// What carries a connection's frames. Confined to the connection's loop, as are the closures that it is given.
protocol Transport: AnyObject {
  /// Begins to connect, and keeps connecting for as long as it takes.
  ///
  /// - Parameter told: each time that the line stands or breaks, and each frame.
  /// - Throws: what the line could not be made of at all; a broker that is away is no error.
  func open(_ told: @escaping @Sendable (TransportEvent) -> Void) throws
  /// Sends a frame; `false` when there is no room for it now.
  func send(_ frame: [UInt8]) -> Bool
  /// Says when there is room again, once.
  func whenWritable(_ handler: @escaping @Sendable () -> Void)
  func close()
  /// Whether a line that is opened now would have another key than this one.
  var hasNewerKey: Bool { get }
}

/// What a transport tells its connection.
enum TransportEvent: Sendable {
  /// The line stands: frames can be sent.
  case up
  /// The line broke. The transport connects again by itself.
  case down
  /// The broker turned the key away for good. The transport has given up.
  case turnedAway
  case received([UInt8])
}
