/// What carries a connection's frames. Confined to the connection's loop.
protocol Transport: AnyObject {
  /// Begins to connect, and keeps connecting for as long as it takes.
  ///
  /// - Parameters:
  ///   - up: each time that the line stands: frames can be sent.
  ///   - down: each time that it broke.
  ///   - received: each frame.
  func open(up: @escaping () -> Void, down: @escaping () -> Void, received: @escaping ([UInt8]) -> Void) throws
  /// Sends a frame; `false` when there is no room for it now.
  func send(_ frame: [UInt8]) -> Bool
  /// Says when there is room again, once.
  func whenWritable(_ handler: @escaping () -> Void)
  func close()
}
