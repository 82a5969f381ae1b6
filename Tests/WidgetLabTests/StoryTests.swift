import Conversations
import Foundation
import Testing

@testable import WidgetLab

@Suite struct `the demo's table` {
  private let cast = RecordedStory.cast

  @Test func `the story of a killed extension is complete`() throws {
    var story = try RecordedStory.extensionKilled()
    try story.birth(cast.widgetExtension, 2, pid: 201)
    try story.events(2, pid: 201)
    try story.appsOwnEvents()
    let watch = story.watched(killing: .widgetExtension)
    #expect(watch.missing == [])
    #expect(watch.violations == [])
    #expect(watch.envelopesOfApp > 0)
  }

  @Test func `what the extension uploads before it is not the story`() throws {
    var story = try RecordedStory.extensionKilled(uploads: true)
    try story.birth(cast.widgetExtension, 2, pid: 201)
    try story.events(2, pid: 201)
    try story.appsOwnEvents()
    let watch = story.watched(killing: .widgetExtension)
    #expect(watch.missing == [])
    #expect(watch.facts.session == RecordedStory.session)
  }

  @Test func `an event of the extension's session at the app is forbidden`() throws {
    var story = try RecordedStory.extensionKilled()
    try story.birth(cast.widgetExtension, 2, pid: 201)
    try story.events(2, pid: 201, to: cast.app)
    try story.appsOwnEvents()
    let watch = story.watched(killing: .widgetExtension)
    #expect(watch.violations.contains { $0.contains("touched the app") })
    #expect(watch.violations.contains { $0.contains("not its own") })
  }

  @Test func `a relaunch that was skipped is missing by name`() throws {
    var story = try RecordedStory.extensionKilled()
    try story.appsOwnEvents()
    let watch = story.watched(killing: .widgetExtension)
    #expect(watch.missing.first == "a new generation of the extension was launched")
  }

  @Test func `events in the life that was killed are no relaunch`() throws {
    var story = try RecordedStory.extensionKilled()
    try story.events(1, pid: 200)
    try story.appsOwnEvents()
    let watch = story.watched(killing: .widgetExtension)
    #expect(watch.missing.contains("onBackgroundURLSessionEvents was called in the new process"))
  }

  @Test func `a child that is ready before its birth is recorded is as good as any`() throws {
    var story = try RecordedStory.extensionKilled()
    try story.birth(cast.widgetExtension, 2, pid: 201, isQuick: true)
    try story.events(2, pid: 201)
    try story.appsOwnEvents()
    #expect(story.watched(killing: .widgetExtension).missing == [])
  }

  @Test func `a pid that the process itself does not have is forbidden`() throws {
    var story = try RecordedStory.extensionKilled()
    try story.birth(cast.widgetExtension, 2, pid: 201, said: 999)
    try story.events(2, pid: 201)
    try story.appsOwnEvents()
    let watch = story.watched(killing: .widgetExtension)
    #expect(watch.violations.contains { $0.contains("999") && $0.contains("201") })
  }

  @Test func `a handler in another process than the one that was born is forbidden`() throws {
    var story = try RecordedStory.extensionKilled()
    try story.birth(cast.widgetExtension, 2, pid: 201)
    try story.events(2, pid: 777)
    let watch = story.watched(killing: .widgetExtension)
    #expect(watch.violations.contains { $0.contains("777") })
  }

  @Test func `events after the acknowledgement are forbidden`() throws {
    var story = try RecordedStory.extensionKilled()
    try story.birth(cast.widgetExtension, 2, pid: 201)
    try story.events(2, pid: 201)
    let delivered = try #require(story.envelopes.last { $0.header.kind == SessionEvents.kind })
    try story.say(
      SessionEvents(session: RecordedStory.session, wakesHandler: true, outcomes: []), from: cast.host,
      to: cast.widgetExtension, id: delivered.header.id)
    #expect(story.watched(killing: .widgetExtension).violations.contains { $0.contains("again") })
  }

  @Test func `a host that begins again instead of resuming is missed`() throws {
    var story = RecordedStory()
    try story.beginning()
    let host = Registration(address: cast.host, generation: 1, pid: 1, isConnected: false)
    try story.say(RegistrationChanged(.disconnected, host), from: .messageBus)
    let new = Registration(address: cast.host, generation: 2, pid: 2, isConnected: true)
    try story.say(RegistrationChanged(.connected, new), from: .messageBus)
    try story.progress(cast.widgetExtension, .restarted, 0)
    try story.progress(cast.widgetExtension, .finished, RecordedStory.fileBytes)
    let watch = story.watched(killing: .host)
    #expect(watch.missing.first == "the new host resumed the download with Range")
    try story.progress(cast.widgetExtension, .resumed, 500)
    try story.progress(cast.widgetExtension, .finished, RecordedStory.fileBytes)
    try story.events(1, pid: 200)
    try story.appsOwnEvents()
    #expect(story.watched(killing: .host).missing == [])
  }

  @Test func `a file with bytes missing is no whole file`() throws {
    var story = RecordedStory()
    try story.beginning()
    try story.progress(cast.widgetExtension, .finished, RecordedStory.fileBytes - 1)
    #expect(story.watched(killing: .none).missing.contains("the download ended"))
  }

  @Test func `an app with an agent of its own outlives the extension's agent`() {
    let steps = StoryTable.steps(killing: .agent, fileBytes: nil, sharesAgent: false).map(\.name)
    #expect(steps.contains("born"))
    #expect(!steps.contains("app-born"))
  }

  @Test(arguments: Victim.allCases)
  func `every step's prerequisites are in its table, before it`(victim: Victim) {
    var names: Set<String> = []
    for step in StoryTable.steps(killing: victim, fileBytes: nil) {
      #expect(names.isSuperset(of: step.after), "\(step.name) of \(victim)")
      #expect(names.insert(step.name).inserted, "\(step.name) of \(victim) is there twice")
    }
  }
}
