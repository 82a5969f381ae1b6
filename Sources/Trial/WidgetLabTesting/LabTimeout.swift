/// The limits of the waits in tests. They guard against waits without end. No test depends on how long something takes.
public enum LabTimeout {
  /// The limit of each wait that has none of its own. It is far longer than anything takes on a busy machine.
  public static let usual = Duration.seconds(120)

  /// The time between two looks at a condition that nothing announces.
  public static let pollInterval = Duration.milliseconds(15)
}
