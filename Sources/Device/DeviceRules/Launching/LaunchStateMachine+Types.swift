// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import Messages

extension LaunchStateMachine {
  package enum State: String, Sendable {
    case absent, launching, running, suspended, dying
  }

  /// The state of the process at one address.
  package struct Process: Sendable, Equatable {
    package var state = State.absent
    package var instance: ProcessInstance?
    package var assertions: Set<Assertion> = []
    /// Those of the assertions that end with the instance, because they must not launch the process.
    var borrowed: Set<Assertion> = []
    package var lastEnding: Ending?
    /// The highest generation that has ended. Exits of older generations are ignored.
    package var lastGeneration: UInt32 = 0
    /// An instance that the agent has listed although it is not newer than one that ended. Not kept over a host restart.
    var listed: ProcessInstance?
    /// The known instance that the last list of its agent lacks. Not kept over a host restart.
    var missing: ProcessInstance?
    /// A list arrived while the instance was being spawned: another agent may have spawned it. Not kept over a host
    /// restart.
    var isListStale = false
    /// The generation that sent `ready`, even when the agent has not reported the instance yet.
    package var readyGeneration: UInt32?
    /// The user force-quit the app. It is not launched until the user opens it, or touches a button, toggle or control
    /// whose intent it performs.
    package var isQuit = false
    /// Consecutive instances that ended before `ready`, exceeded their memory limit, or ended by themselves while
    /// wanted.
    package var failures = 0
    package var why = "never started"
    /// Why the last launch failed, until another one succeeds. Not kept over a host restart.
    package internal(set) var launchFailure: BusError?
    /// The earliest date of the next launch, resume or stop.
    package internal(set) var notBefore: Date?
    var idleSince: Date?
    /// Why the instance that is being spawned is ended at once. Not kept over a host restart.
    var whyToEndAtSpawn: String?
    /// Since when it has been suspended and not wanted. Not kept over a host restart.
    var suspendedAt: Date?
    /// A spawn or a signal is in progress.
    var isAsking = false
    /// The agent could not be reached or did not carry out a request. The request is repeated after a pause in machine
    /// time.
    var isPausing = false
    /// Whether a reply or an exit is pending.
    package var isUnderWay: Bool { isAsking || isPausing || state == .launching || state == .dying }

    package init() {}

    /// Ends the assertions that end with the instance.
    mutating func endAssertionsOfInstance() {
      assertions.subtract(Assertion.ofInstance)
      assertions.subtract(borrowed)
      borrowed = []
    }

    /// Ends one assertion.
    mutating func release(_ assertion: Assertion) {
      assertions.remove(assertion)
      borrowed.remove(assertion)
    }
  }

  package enum Event: Sendable {
    /// - Parameter mayWake: `false`: a process that does not run, or is being suspended, is left as it is.
    case wanted(Address, Assertion, mayWake: Bool = true)
    case released(Address, Assertion)
    /// Released. The process is stopped at once if it has no other assertion, whatever it is doing.
    case halted(Address, Assertion)
    /// End this instance with `SIGKILL`; `nil`: the one that runs now, if there is one.
    case evicted(Address, generation: UInt32?, why: String)
    /// End every instance with `SIGKILL`, also one that is being spawned.
    case allEvicted(why: String)
    /// The user force-quit the app: end it with `SIGKILL`, and do not launch it until the user opens it, or touches a
    /// button, toggle or control whose intent it performs.
    case quit(Address)
    /// End it with `SIGKILL`, and do not launch it before `launchesAllowed`.
    case launchesPrevented(Address, why: String)
    case launchesAllowed(Address)
    /// The agent found that this instance exceeds its memory limit.
    case exceededMemory(Address, ProcessInstance, why: String)
    case ready(Address, generation: UInt32)
    case spawned(Address, ProcessInstance)
    case spawnFailed(Address, BusError)
    case signalled(Address, generation: UInt32, signal: Int32)
    case signalFailed(Address, generation: UInt32, signal: Int32, BusError)
    /// - Parameter report: the path of the executable and the failure that it reported.
    case exited(Address, ProcessInstance, Ending, report: String? = nil)
    /// The user asks for the process: retry a failed launch at once.
    case tryAgain(Address)
    case agentReported(Address, incarnation: UUID, children: [ChildProcess])
    /// The second of `pause` has passed.
    case pauseEnded(Address)
    /// The date of `nextInstant` has been reached.
    case timerFired
  }

  package enum Action: Sendable, Equatable {
    case spawn(Address, reason: String)
    case signal(Address, generation: UInt32, signal: Int32)
    /// Request the list of children from the agent.
    case list(agent: Address)
    /// Send `pauseEnded` after a second of machine time: a held device clock must not delay requests to the agent.
    case pause(Address)
    case output(LaunchOutput)
    /// Record the changed state. The value is the state at this point, before later actions.
    case changed(ProcessState)
  }
}
