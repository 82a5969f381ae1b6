// SPDX-License-Identifier: Apache-2.0

import DeviceRules

// What a host finds of its former value: the columns that the stores of `Device` write. Searches and simulations share it.

extension LaunchStateMachine.Process {
  /// What `LaunchStore` writes and reads.
  var row: Self {
    var row = Self()
    row.instance = instance
    row.state = instance == nil ? .absent : state
    row.why = why
    row.lastGeneration = lastGeneration
    row.readyGeneration = readyGeneration
    row.lastEnding = lastEnding
    row.failures = failures
    row.isQuit = isQuit
    if assertions.contains(.foreground) { row.assertions.insert(.foreground) }
    return row
  }
}

extension LoadingStateMachine.Transfer {
  /// What `TransferStore` writes of a task without an end.
  var row: Self {
    Self(
      key: key, host: host, access: access, created: created, isInBackground: isInBackground, priority: priority,
      earliestBeginDate: earliestBeginDate, isSuspended: isSuspended, attempts: attempts, failures: failures,
      notBefore: notBefore)
  }
}

extension DeliveryStateMachine.Session {
  /// What `TransferStore` writes of a session. A task whose end is not on the disk runs.
  var row: Self {
    var row = Self(
      sendsLaunchEvents: sendsLaunchEvents, openIn: openIn, isQuit: isQuit, running: running, ended: ended)
    row.creators = creators
    row.acknowledged = acknowledged
    row.nextTaskIdentifier = nextTaskIdentifier
    return row
  }
}

extension DeliveryStateMachine.Delivery {
  /// What `TransferStore` writes of a delivery (`storedDelivery`).
  var row: Self {
    var row = Self(id: id, session: session, tasks: tasks)
    row.redeliveries = redeliveries
    row.exits = exits
    row.notBefore = notBefore
    row.isHeld = isHeld
    row.last = last
    return row
  }
}
