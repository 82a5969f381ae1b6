import Conversations
import Foundation
import Testing

@testable import PushStore

private let origin = Date(timeIntervalSince1970: 1_000_000_000)
private let widgets = PushSubject(device: "iphone", bundle: "com.example.A", use: .widgets)
private let app = PushSubject(device: "iphone", bundle: "com.example.A", use: .app)

private func push(
  _ number: Int64, for subject: PushSubject = widgets, priority: Int = 10, collapseID: String? = nil,
  expiration: Date? = nil, isFromStorage: Bool = false
) -> KeptPush {
  KeptPush(
    number: number,
    notification: PushedNotification(
      uniqueID: UUID(), apnsID: "id-\(number)", subject: subject, type: .widgets, priority: priority,
      collapseID: collapseID, payload: "{}", acceptedAt: origin, expiration: expiration, isFromStorage: isFromStorage),
    token: "00ff")
}

private struct Scene {
  var decision: PushDecision
  var now = origin

  init(inFlight: Int = 32) {
    var settings = PushSettings()
    settings.inFlight = inFlight
    decision = PushDecision(settings: settings)
  }

  mutating func take(_ event: PushDecision.Event) -> [PushDecision.Answer] { decision.take(event, now: now) }

  @discardableResult
  mutating func reach(online: Bool = true, awake: Bool = true, generation: UInt32 = 1) -> [PushDecision.Answer] {
    take(.reach(device: "iphone", isOnline: online, isAwake: awake, generation: generation))
  }

  @discardableResult
  mutating func presence(_ isPresent: Bool, generation: UInt32 = 1) -> [PushDecision.Answer] {
    take(.presence(device: "iphone", isPresent: isPresent, generation: generation))
  }
}

extension [PushDecision.Answer] {
  /// `sent 1`, `superseded 2`: the stations, with the numbers of their requests.
  fileprivate var stations: [String] {
    compactMap { if case .station(let push, let name, _) = $0 { "\(name.rawValue) \(push.number)" } else { nil } }
  }

  fileprivate var sent: [UUID] {
    compactMap { if case .send(let notification) = $0 { notification.uniqueID } else { nil } }
  }

  fileprivate var kept: [UUID] { compactMap { if case .keep(let push) = $0 { push.id } else { nil } } }
  fileprivate var dropped: [UUID] { compactMap { if case .drop(let push) = $0 { push.id } else { nil } } }
}

@Suite struct `what becomes of an accepted notification` {
  @Test func `a device that can be reached is handed it at once, and it is kept until the device acknowledges`() {
    var scene = Scene()
    scene.reach()
    let first = push(1)
    let answers = scene.take(.accepted(first))
    #expect(answers.stations == ["sent 1"] && answers.sent == [first.id] && answers.kept == [first.id])
    #expect(scene.decision.count == 1)
    let ended = scene.take(.acknowledged(first.id))
    #expect(ended.stations == ["delivered 1"] && ended.dropped == [first.id])
    #expect(scene.decision.count == 0)
    #expect(scene.take(.acknowledged(first.id)).isEmpty, "acknowledged twice it is delivered once")
  }

  @Test func `of a device that is offline the newest is stored, and each one that it replaced is named`() {
    var scene = Scene()
    scene.reach(online: false)
    let pushes = (1...3).map { push(Int64($0)) }
    #expect(scene.take(.accepted(pushes[0])).stations == ["storedOffline 1"])
    let second = scene.take(.accepted(pushes[1]))
    #expect(second.stations == ["superseded 1", "storedOffline 2"] && second.dropped == [pushes[0].id])
    #expect(scene.take(.accepted(pushes[2])).stations == ["superseded 2", "storedOffline 3"])
    let back = scene.reach()
    #expect(back.stations == ["sent 3"] && back.sent == [pushes[2].id])
    guard case .send(let notification)? = back.last else { return #expect(Bool(false), "nothing is sent") }
    #expect(notification.isFromStorage)
  }

  @Test func `one with the same collapse id is collapsed, with another one superseded`() {
    var scene = Scene()
    scene.reach(online: false)
    _ = scene.take(.accepted(push(1, collapseID: "drink")))
    #expect(scene.take(.accepted(push(2, collapseID: "drink"))).stations == ["collapsed 1", "storedOffline 2"])
    #expect(scene.take(.accepted(push(3, collapseID: "meal"))).stations == ["superseded 2", "storedOffline 3"])
    #expect(scene.take(.accepted(push(4))).stations == ["superseded 3", "storedOffline 4"])
    #expect(scene.take(.accepted(push(5))).stations == ["superseded 4", "storedOffline 5"])
  }

  @Test func `the app's and the widgets' notifications have places of their own`() {
    var scene = Scene()
    scene.reach(online: false)
    #expect(scene.take(.accepted(push(1))).stations == ["storedOffline 1"])
    #expect(scene.take(.accepted(push(2, for: app))).stations == ["storedOffline 2"])
    #expect(scene.reach().stations == ["sent 2", "sent 1"])
  }

  @Test func `a device that is asleep is woken by priority 10, and gets the others when it wakes`() {
    var scene = Scene()
    scene.reach(awake: false)
    #expect(scene.take(.accepted(push(1, priority: 5))).stations == ["storedPower 1"])
    #expect(scene.take(.accepted(push(2, priority: 10))).stations == ["sent 2"])
    #expect(scene.take(.accepted(push(3, priority: 1))).stations == ["superseded 1", "storedPower 3"])
    #expect(scene.reach().stations == ["sent 3"])
  }

  @Test func `an expiration of 0 is one attempt`() {
    var scene = Scene()
    let once = Date(timeIntervalSince1970: 0)
    let gone = push(1, expiration: once)
    let missed = scene.take(.accepted(gone))
    #expect(missed.stations == ["notStored 1"] && missed.kept.isEmpty && scene.decision.count == 0)
    scene.reach()
    let tried = scene.take(.accepted(push(2, expiration: once)))
    #expect(tried.stations == ["sent 2"] && tried.kept.isEmpty)
  }

  @Test func `what is stored is forgotten at its expiration, after 30 days at the latest`() {
    var scene = Scene()
    scene.reach(online: false)
    _ = scene.take(.accepted(push(1, expiration: origin.addingTimeInterval(60))))
    #expect(scene.decision.nextInstant == origin.addingTimeInterval(60))
    scene.now += 59
    #expect(scene.take(.clock).isEmpty)
    scene.now += 1
    #expect(scene.take(.clock).stations == ["expired 1"])
    #expect(scene.decision.nextInstant == nil)
    _ = scene.take(.accepted(push(2, expiration: origin.addingTimeInterval(86_400 * 365))))
    #expect(scene.decision.nextInstant == origin.addingTimeInterval(86_400 * 30))
    #expect(scene.take(.accepted(push(3, expiration: origin))).stations == ["expired 3"])
    scene.now += 86_400 * 30
    #expect(scene.reach().stations == ["expired 2"], "a device that comes too late does not get it")
  }

  @Test func `no more than the window is on its way; the newest of the others waits for an acknowledgement`() {
    var scene = Scene(inFlight: 2)
    scene.reach()
    let pushes = (1...4).map { push(Int64($0)) }
    #expect(pushes[..<2].flatMap { scene.take(.accepted($0)) }.stations == ["sent 1", "sent 2"])
    #expect(scene.take(.accepted(pushes[2])).stations == ["storedOffline 3"])
    #expect(scene.take(.accepted(pushes[3])).stations == ["superseded 3", "storedOffline 4"])
    #expect(scene.take(.acknowledged(pushes[0].id)).stations == ["delivered 1", "sent 4"])
  }

  @Test func `a device that refuses gets it again when it says that it can be reached`() {
    var scene = Scene()
    scene.reach()
    let first = push(1)
    _ = scene.take(.accepted(first))
    #expect(scene.take(.refused(first.id, why: "no network", again: false)).stations == ["storedOffline 1"])
    #expect(scene.decision.nextInstant == origin.addingTimeInterval(86_400 * 30), "nothing is tried by the clock")
    #expect(scene.reach().stations == ["sent 1"])
    #expect(scene.take(.refused(first.id, why: "a full disk", again: true)).stations == ["storedOffline 1"])
    scene.now += 30
    #expect(scene.take(.clock).stations == ["sent 1"])
    let second = push(2)
    _ = scene.take(.accepted(second))
    #expect(scene.take(.refused(second.id, why: "no network", again: false)).stations == ["storedOffline 2"])
    #expect(scene.take(.refused(first.id, why: "no network", again: false)).stations == ["superseded 1"])
  }

  @Test func `what is stored ends in its time, also when it was to be tried again before that`() {
    var scene = Scene()
    scene.reach()
    let first = push(1, expiration: origin.addingTimeInterval(60))
    _ = scene.take(.accepted(first))
    _ = scene.take(.refused(first.id, why: "a full disk", again: true))
    #expect(scene.decision.nextInstant == origin.addingTimeInterval(30))
    scene.reach(online: false)
    #expect(scene.decision.nextInstant == origin.addingTimeInterval(60), "a device that is offline is not tried")
    scene.now += 60
    #expect(scene.take(.clock).stations == ["expired 1"])
  }

  @Test func `of many that were replaced by others none is waited for`() {
    var scene = Scene()
    scene.reach(online: false)
    for number in 1...1000 {
      _ = scene.take(.accepted(push(Int64(number), expiration: origin.addingTimeInterval(Double(2000 - number)))))
    }
    #expect(scene.decision.nextInstant == origin.addingTimeInterval(1000))
    _ = scene.take(.accepted(push(1001)))
    #expect(scene.decision.nextInstant == origin.addingTimeInterval(86_400 * 30))
    scene.now += 2000
    #expect(scene.take(.clock).isEmpty)
  }

  @Test func `who goes and comes back in the same life is reached again; another life has to say so itself`() {
    var scene = Scene()
    scene.reach(generation: 1)
    scene.presence(false)
    #expect(scene.take(.accepted(push(1))).stations == ["storedOffline 1"])
    #expect(scene.presence(true).stations == ["sent 1"])
    scene.presence(false)
    #expect(scene.take(.accepted(push(2))).stations == ["storedOffline 2"])
    #expect(scene.presence(true, generation: 2).isEmpty)
    #expect(scene.reach(generation: 2).stations == ["sent 2"])
  }

  @Test func `what the last life may have sent is sent again first, and is not replaced`() {
    var scene = Scene()
    scene.decision.restore(push(1))
    scene.decision.restore(push(2, isFromStorage: true))
    #expect(scene.take(.accepted(push(3))).stations == ["superseded 2", "storedOffline 3"])
    #expect(scene.reach().stations == ["sent 1", "sent 3"])
  }

  @Test func `what is stored for a token that ends is not delivered`() {
    var scene = Scene()
    scene.reach(online: false)
    let first = push(1)
    _ = scene.take(.accepted(first))
    #expect(scene.take(.tokenEnded("another")).isEmpty)
    let ended = scene.take(.tokenEnded("00ff"))
    #expect(ended.stations == ["tokenUnregistered 1"] && ended.dropped == [first.id])
    #expect(scene.reach().isEmpty)
  }
}
