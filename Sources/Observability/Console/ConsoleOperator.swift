// SPDX-License-Identifier: Apache-2.0

/// The cluster as the console uses it: questions to the running processes, and actions. The tool implements it with its
/// own commands and its connection to the bus; a console of a copied journal has none.
package protocol ConsoleOperator: Sendable {
  /// What changed without a message in the journal, such as the end of the bus.
  var changes: AsyncStream<Set<ConsoleTopic>> { get }

  /// Whether the broker runs.
  func isBusConnected() async -> Bool

  /// The processes of the cluster.
  func processes(_ journal: ConsoleJournal) async throws -> [ConsoleProcess]

  /// One screen of the device.
  ///
  /// - Parameter location: nil for the visible one.
  func screen(_ location: String?, _ journal: ConsoleJournal) async throws -> ConsoleScreen

  /// A picture that `screen` has named; nil when it is no longer kept.
  func picture(_ hash: String) async -> [UInt8]?

  /// What can be placed where.
  func gallery() async throws -> [ConsoleGalleryItem]

  /// The accounts of the placements, and the clock.
  func budget() async throws -> ConsoleBudget

  /// The deliveries and tokens of the push server.
  func pushes(limit: Int) async throws -> ConsolePushes

  /// Performs a command of the tool.
  ///
  /// - Throws: 400 for a command that the console does not perform.
  func perform(_ arguments: [String]) async throws -> ConsoleActionResult
}

/// The budget of the device, and its clock.
package struct ConsoleBudget: Codable, Sendable, Equatable {
  package struct Clock: Codable, Sendable, Equatable {
    package let now: Double
    package let isHeld: Bool
    package let rate: Double
    package let text: String

    /// Creates the state of a clock.
    package init(now: Double, isHeld: Bool, rate: Double, text: String) {
      self.now = now
      self.isHeld = isHeld
      self.rate = rate
      self.text = text
    }
  }

  package struct Account: Codable, Sendable, Equatable {
    package let placement: Int
    package let kind: String
    package let balance: Double
    package let perDay: Double
    package let spent: Int
    package let next: Double?
    package let nextBecause: String?
    package let withheld: String?
    package var capacity: Double?

    /// Creates an account.
    package init(
      placement: Int, kind: String, balance: Double, perDay: Double, spent: Int, next: Double?, nextBecause: String?,
      withheld: String?, capacity: Double?
    ) {
      self.placement = placement
      self.kind = kind
      self.balance = balance
      self.perDay = perDay
      self.spent = spent
      self.next = next
      self.nextBecause = nextBecause
      self.withheld = withheld
      self.capacity = capacity
    }
  }

  package var now: Double
  package var policy: String?
  package var isDeveloperMode: Bool
  package var clock: Clock?
  package var accounts: [Account]

  /// Creates a budget.
  package init(now: Double, policy: String?, isDeveloperMode: Bool, clock: Clock?, accounts: [Account]) {
    self.now = now
    self.policy = policy
    self.isDeveloperMode = isDeveloperMode
    self.clock = clock
    self.accounts = accounts
  }
}

/// The deliveries of the push server, and its tokens.
package struct ConsolePushes: Codable, Sendable, Equatable {
  package struct Step: Codable, Sendable, Equatable {
    package let name: String
    package let at: Double
    package let detail: String?

    /// Creates a step.
    package init(name: String, at: Double, detail: String?) {
      self.name = name
      self.at = at
      self.detail = detail
    }
  }

  package struct Push: Codable, Sendable, Equatable {
    package let number: Int64?
    package let id: String
    package let type: String?
    package let subject: String?
    package let status: Int?
    package let reason: String?
    package var meaning: String?
    package var rule: String?
    package let steps: [Step]
    package var trace: String?

    /// Creates a push.
    package init(
      number: Int64?, id: String, type: String?, subject: String?, status: Int?, reason: String?, steps: [Step]
    ) {
      self.number = number
      self.id = id
      self.type = type
      self.subject = subject
      self.status = status
      self.reason = reason
      self.steps = steps
    }
  }

  package struct Token: Codable, Sendable, Equatable {
    package let token: String
    package let bundle: String
    package let use: String
    package let environment: String
    package let state: String

    /// Creates a token.
    package init(token: String, bundle: String, use: String, environment: String, state: String) {
      self.token = token
      self.bundle = bundle
      self.use = use
      self.environment = environment
      self.state = state
    }
  }

  package struct Answer: Codable, Sendable, Equatable {
    package let status: Int
    package let reason: String?
    package let remaining: Int

    /// Creates an overridden response.
    package init(status: Int, reason: String?, remaining: Int) {
      self.status = status
      self.reason = reason
      self.remaining = remaining
    }
  }

  package struct Reason: Codable, Sendable, Equatable {
    package let status: Int
    package let reason: String
    package let meaning: String
    package let rule: String?

    /// Creates a reason.
    package init(status: Int, reason: String, meaning: String, rule: String?) {
      self.status = status
      self.reason = reason
      self.meaning = meaning
      self.rule = rule
    }
  }

  package var isReachable: Bool
  package var pushes: [Push]
  package var tokens: [Token]
  package var answers: [Answer]
  package var reasons: [Reason]

  /// Creates the answer of a push server.
  package init(isReachable: Bool, pushes: [Push], tokens: [Token], answers: [Answer], reasons: [Reason]) {
    self.isReachable = isReachable
    self.pushes = pushes
    self.tokens = tokens
    self.answers = answers
    self.reasons = reasons
  }
}
