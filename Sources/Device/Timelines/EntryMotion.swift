import Archive
import Conversations
import Crypto
import Foundation

/// What decides how the system animates the change to an entry, and from it: kept beside the entry, since the views are not at
/// hand when its time has come. A plain value.
///
/// An entry is cut into regions: the whole, and within it what each `animation`, `contentTransition` or `transition` is applied
/// to. A region has changed when its own content has, that of regions in it left out.
///
/// Source: *Animating data updates in widgets and Live Activities*: changes are animated by the system, by what the views name and
/// else by itself; no animation lasts longer than two seconds, and an Always-On display has none.
struct EntryMotion: Codable, Sendable, Equatable {
  /// The longest that the system takes, seconds. Source: the same.
  static let limit = 2.0
  /// Where the author names nothing. Source: the spring is observed; its seconds are SwiftUI's own.
  static let implicit = Timing(curve: "spring", seconds: 0.5)
  /// Of more regions the rest belongs to those that they are in: a bound of memory.
  private static let regionLimit = 64

  struct Timing: Codable, Sendable, Equatable {
    let curve: String
    let seconds: Double
  }

  /// What a region's modifier says.
  enum Rule: Codable, Sendable, Equatable {
    case whole
    /// `nil`: none. Without a value it holds for each change, else for those with which the value changes.
    case animation(Timing?, value: String?)
    case contentTransition(String)
    /// Of a view that comes or goes. `nil`: as around it.
    case transition(String, Timing?)
  }

  struct Region: Codable, Sendable, Equatable {
    /// Where in the tree.
    let path: String
    /// The region that it is in.
    let parent: Int?
    let rule: Rule
    /// SHA-256 of its content, the first 16 hexadecimal digits.
    let content: String
  }

  private(set) var regions: [Region] = []

  /// - Parameters:
  ///   - view: no deeper than the limits allow.
  ///   - data: the same as JSON.
  init(_ view: ViewArchive, _ data: Data) {
    guard view.namesAnimations else {
      regions = [Region(path: "", parent: nil, rule: .whole, content: SHA256.hash(data: data).text)]
      return
    }
    var reader = Reader()
    let whole = reader.open("", in: nil, .whole)
    reader.read(view, "", in: whole)
    regions = reader.regions
  }

  /// How the system animates the change from an earlier entry to this one; `nil` when it does not.
  func animation(from former: EntryMotion) -> EntryAnimation? {
    let earlier = Dictionary(former.regions.map { ($0.path, $0) }) { first, _ in first }
    let own = Set(regions.map(\.path))
    let changed = regions.indices.filter { earlier[regions[$0].path]?.content != regions[$0].content }
    var found = changed.map { effect(of: $0, earlier) }
    for region in former.regions where !own.contains(region.path) { found.append(Self.leaving(region)) }
    var longest: Effect?
    for effect in found where effect.timing != nil {
      let isLonger = effect.seconds > longest?.seconds ?? -1
      let saysMore = effect.seconds == longest?.seconds && longest?.transition == nil
      if isLonger || saysMore { longest = effect }
    }
    return longest.flatMap { effect in
      effect.timing.map {
        EntryAnimation(curve: $0.curve, seconds: min($0.seconds, Self.limit), transition: effect.transition)
      }
    }
  }

  private struct Effect {
    var timing: Timing?
    var transition: String?
    var seconds: Double { timing?.seconds ?? 0 }
  }

  /// What holds in a region that changed: its own modifier, or what holds around it.
  private func effect(of index: Int, _ earlier: [String: Region]) -> Effect {
    let region = regions[index]
    var effect = region.parent.map { self.effect(of: $0, earlier) } ?? Effect(timing: Self.implicit)
    let before = earlier[region.path]
    switch region.rule {
    case .whole: break
    case .animation(let timing, nil): effect.timing = timing
    case .animation(let timing, let value?):
      // A view that comes has no earlier value that could have changed.
      if case .animation(_, let former?)? = before?.rule, former != value { effect.timing = timing }
    case .contentTransition(let name):
      effect.transition = name
      if name == "identity" { effect.timing = nil }
    case .transition(let name, let timing):
      guard before == nil else { break }
      effect.transition = name
      effect.timing = name == "identity" ? nil : timing ?? effect.timing
    }
    return effect
  }

  /// What holds for a region that is there no longer.
  private static func leaving(_ region: Region) -> Effect {
    guard case .transition(let name, let timing) = region.rule else { return Effect(timing: implicit) }
    return Effect(timing: name == "identity" ? nil : timing ?? implicit, transition: name)
  }
}

extension EntryMotion {
  /// Cuts a tree into regions. As deep as the tree, which the limits of archives bound.
  private struct Reader {
    private var open: [(path: String, parent: Int?, rule: Rule, hash: SHA256)] = []

    var regions: [Region] {
      open.map { Region(path: $0.path, parent: $0.parent, rule: $0.rule, content: $0.hash.finalize().text) }
    }

    mutating func open(_ path: String, in parent: Int?, _ rule: Rule) -> Int {
      open.append((path, parent, rule, SHA256()))
      return open.count - 1
    }

    mutating func read(_ view: ViewArchive, _ path: String, in region: Int) {
      var region = region
      // The last that was applied is the outermost.
      for (index, modifier) in view.modifiers.enumerated().reversed() {
        if let rule = Rule(modifier), open.count < EntryMotion.regionLimit {
          region = open("\(path)#\(index)", in: region, rule)
        } else {
          take(modifier.name, modifier.arguments, in: region)
          for (number, own) in modifier.views.enumerated() { read(own, "\(path)#\(index).\(number)", in: region) }
        }
      }
      take(view.name, view.arguments, in: region)
      for (index, child) in view.children.enumerated() { read(child, "\(path)/\(index)", in: region) }
      take(")", [:], in: region)
    }

    private mutating func take(_ name: String, _ arguments: [String: ArchivedValue], in region: Int) {
      open[region].hash.update(data: Data("\(name)(".utf8))
      if !arguments.isEmpty, let data = try? BodyCoding.data(arguments) { open[region].hash.update(data: data) }
    }
  }
}

extension EntryMotion.Rule {
  /// `nil` for a modifier that says nothing of animations.
  fileprivate init?(_ modifier: ViewArchive.Modifier) {
    let arguments = modifier.arguments
    let name = arguments["transition"]?.string ?? ""
    switch modifier.name {
    case "animation":
      self = .animation(EntryMotion.Timing(arguments), value: arguments["value"]?.string.map(Self.digest))
    case "contentTransition": self = .contentTransition(name)
    case "transition": self = .transition(name, EntryMotion.Timing(arguments))
    default: return nil
    }
  }

  /// A value of any length in a few letters.
  private static func digest(_ value: String) -> String {
    value.utf8.count > 64 ? SHA256.hash(data: Data(value.utf8)).text : value
  }
}

extension EntryMotion.Timing {
  /// As `Animation` is archived: its name, whose first word is the curve, and its seconds.
  fileprivate init?(_ arguments: [String: ArchivedValue]) {
    guard let name = arguments["animation"]?.string, let curve = name.split(separator: " ").first else { return nil }
    let seconds = arguments["seconds"]?.number ?? EntryMotion.implicit.seconds
    // What repeats for ever has no end, which a JSON number cannot say.
    self.init(curve: String(curve.prefix(40)), seconds: (0...3600).contains(seconds) ? seconds : seconds > 0 ? 3600 : 0)
  }
}

extension SHA256.Digest {
  /// The first 16 hexadecimal digits.
  fileprivate var text: String { prefix(8).map { String(format: "%02x", $0) }.joined() }
}

extension ViewArchive {
  /// Whether a modifier in it says something of animations. Without recursion.
  fileprivate var namesAnimations: Bool {
    var left = [self]
    while let view = left.popLast() {
      for modifier in view.modifiers {
        if EntryMotion.Rule(modifier) != nil { return true }
        left += modifier.views
      }
      left += view.children
    }
    return false
  }
}
