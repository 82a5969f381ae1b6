// SPDX-License-Identifier: Apache-2.0

/// The limits of waits in tests. They guard against endless waits. No test depends on how long something takes.
public enum LabTimeout {
  /// The default limit of a wait. It is far longer than any operation takes on a busy machine.
  public static let usual = Duration.seconds(300)

  /// The time between two evaluations of a condition that must be polled.
  public static let pollInterval = Duration.milliseconds(15)
}
