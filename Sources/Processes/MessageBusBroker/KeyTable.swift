import Conversations

/// Which keys the broker knows, and what each may speak as.
struct KeyTable {
  /// Whose key it is.
  enum Owner: Equatable {
    /// A standing process: any address that the pattern matches.
    case standing(AddressPattern)
    /// One life of a spawned process.
    case life(Address, generation: UInt32)

    func maySpeak(as address: Address) -> Bool {
      switch self {
      case .standing(let pattern): pattern.matches(address)
      case .life(let own, _): own == address
      }
    }

    /// The one address that it speaks as; nil for a pattern of many.
    var onlyAddress: Address? {
      switch self {
      case .standing(let pattern): pattern.text.hasSuffix("/*") ? nil : Address(pattern.text)
      case .life(let address, _): address
      }
    }

    var isOperator: Bool {
      if case .standing(let pattern) = self { return pattern.text.hasPrefix("operator/") }
      return false
    }

    /// As a refusal names it.
    var text: String {
      switch self {
      case .standing(let pattern): pattern.text
      case .life(let address, let generation): "\(address) generation \(generation)"
      }
    }
  }

  private var standing: [String: AddressPattern] = [:]
  private var lives: [String: Owner] = [:]
  private var revoked: Set<String> = []

  subscript(key: String) -> Owner? { standing[key].map { .standing($0) } ?? lives[key] }

  func isRevoked(_ key: String) -> Bool { revoked.contains(key) }

  /// Knows these standing keys, and no other standing key from now on.
  mutating func setStanding(_ keys: [String: AddressPattern]) { standing = keys }

  mutating func admit(_ key: String, _ address: Address, generation: UInt32) {
    lives[key] = .life(address, generation: generation)
  }

  mutating func revoke(_ key: String) {
    lives[key] = nil
    revoked.insert(key)
  }
}

/// Who has sent something to an address since this broker began, and so hears of its coming and going.
struct Interest {
  /// Whoever comes after so many others at one address hears nothing.
  static let limit = 1024
  private var listeners: [Address: [Address]] = [:]

  mutating func note(_ sender: Address, in address: Address) {
    let known = listeners[address, default: []]
    guard known.count < Interest.limit, !known.contains(sender) else { return }
    listeners[address] = known + [sender]
  }

  /// In the order of their first envelopes.
  func listeners(of address: Address) -> [Address] { listeners[address] ?? [] }

  mutating func forget(_ address: Address) {
    listeners[address] = nil
    for key in Array(listeners.keys) {
      listeners[key]?.removeAll { $0 == address }
      if listeners[key]?.isEmpty == true { listeners[key] = nil }
    }
  }
}
