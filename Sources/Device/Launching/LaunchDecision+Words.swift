package import Conversations
package import Foundation

extension LaunchDecision {
  package enum State: String, Sendable {
    case absent, launching, running, suspended, dying
  }

  /// What is known of one address.
  package struct Process: Sendable, Equatable {
    package internal(set) var state = State.absent
    package internal(set) var life: Life?
    package internal(set) var assertions: Set<Assertion> = []
    package internal(set) var lastEnding: Ending?
    /// The highest generation that has ended; an older exit that comes again says nothing new.
    package internal(set) var lastGeneration: UInt32 = 0
    /// Which life said `ready`, also when the agent has not named it yet.
    package internal(set) var readyGeneration: UInt32?
    /// A person ended the app: it is not started before a person opens it, or touches a control whose intent it performs.
    package internal(set) var isQuit = false
    /// Lives in a row that ended before `ready`, were over their memory limit, or ended by themselves while they were wanted.
    package internal(set) var failures = 0
    package internal(set) var why = "never started"
    /// Why the last launch failed, until another one succeeds; not kept over the host's death.
    package internal(set) var launchFailure: BusError?
    /// Not started, resumed or stopped before.
    var notBefore: Date?
    var idleSince: Date?
    /// A spawn or a signal is under way.
    var isAsking = false
    /// Its agent could not be asked, or did not do it, and is asked again after a pause of the machine's time.
    var isPausing = false
    /// Somebody's answer or end is waited for.
    var isUnderWay: Bool { isAsking || isPausing || state == .launching || state == .dying }
  }

  package enum Event: Sendable {
    case wanted(Address, Assertion)
    case released(Address, Assertion)
    /// Released, and to be stopped at once when nobody else wants it, whatever it is doing.
    case halted(Address, Assertion)
    /// End this life with `SIGKILL`.
    case evicted(Address, generation: UInt32, why: String)
    /// A person ended the app: end it with `SIGKILL`, and do not start it before a person opens it.
    case quit(Address)
    /// End it with `SIGKILL`, and do not start it before `letGo`.
    case heldBack(Address, why: String)
    case letGo(Address)
    /// The agent found this life over its memory limit.
    case exceededMemory(Address, Life, why: String)
    case ready(Address, generation: UInt32)
    case spawned(Address, Life)
    case spawnFailed(Address, BusError)
    case signalled(Address, generation: UInt32, signal: Int32)
    case signalFailed(Address, generation: UInt32, signal: Int32, BusError)
    /// - Parameter report: the path of what ran, and what it said of its failure.
    case exited(Address, Life, Ending, report: String? = nil)
    /// A person asks for it: a launch that failed is tried again at once.
    case tryAgain(Address)
    case agentReported(Address, incarnation: UUID, children: [ChildProcess])
    /// The second of `pause` is over.
    case pauseEnded(Address)
    /// The instant of `nextInstant` has come.
    case instantCame
  }

  package enum Answer: Sendable, Equatable {
    case spawn(Address, reason: String)
    case signal(Address, generation: UInt32, signal: Int32)
    /// Ask the agent for its children.
    case list(agent: Address)
    /// Say `pauseEnded` after a second of the machine's time: a person who holds the device's does not mean the agent.
    case pause(Address)
    case intent(LaunchIntent)
    /// The state changed, for the record: as it was at this point, whatever the answers after it bring.
    case changed(ProcessState)
  }
}
