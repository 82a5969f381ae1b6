import Conversations
import Foundation
import Testing

@testable import Timelines

private let app = Address.app("iphone", "com.example.Coffee")
private let widget = Address.widgetExtension("iphone", "com.example.Coffee.Widget")
private let other = Address.widgetExtension("iphone", "org.other.Widget")
private let person = Address.operator("1")

private func want(_ address: Address) -> TimelineDecision.Answer {
  .intent(.wantAwake(address, because: "timeline"))
}
private func release(_ address: Address) -> TimelineDecision.Answer {
  .intent(.release(address, because: "timeline"))
}
private func question(_ kind: String, _ serial: Int = 1) -> TimelineDecision.Question {
  TimelineDecision.Question(purpose: .timeline, address: widget, kind: kind, serial: serial)
}
private func snapshot(_ kind: String, _ serial: Int, of address: Address = widget) -> TimelineDecision.Question {
  TimelineDecision.Question(purpose: .snapshot, address: address, kind: kind, serial: serial)
}

private struct Bench {
  var decision = TimelineDecision(extensions: [widget, other])

  mutating func take(_ event: TimelineDecision.Event) -> [TimelineDecision.Answer] { decision.take(event) }
  mutating func reload(_ source: Address, _ kind: String?) -> [TimelineDecision.Answer] {
    take(.reload(from: source, kind: kind, cause: nil, correlation: nil))
  }
}

@Suite struct TimelineDecisionTests {
  @Test func `an extension asks for its own timelines, an app for those of its extensions, a person for all`() {
    var bench = Bench()
    #expect(bench.reload(widget, "Coffee") == [want(widget)])
    #expect(bench.reload(app, "Coffee") == [want(widget)])
    #expect(bench.reload(person, nil) == [want(widget), want(other)])
  }

  @Test func `a kind that is known launches only the extension that has it`() {
    var bench = Bench()
    _ = bench.take(.learned(widget, kinds: ["Coffee"]))
    #expect(bench.reload(person, "Coffee") == [want(widget)])
  }

  @Test func `a reload that is asked for twice is one question`() {
    var bench = Bench()
    _ = bench.take(.learned(widget, kinds: ["Coffee"]))
    _ = bench.reload(widget, "Coffee")
    _ = bench.reload(widget, "Coffee")
    #expect(bench.take(.awake(widget)) == [.ask(question("Coffee", 2))])
    #expect(bench.take(.awake(widget)) == [])
    #expect(bench.take(.answered(question("Coffee", 2))) == [release(widget)])
    #expect(bench.take(.awake(widget)) == [])
  }

  @Test func `a reload that comes while the extension is asked is asked again`() {
    var bench = Bench()
    _ = bench.take(.learned(widget, kinds: ["Coffee"]))
    _ = bench.reload(widget, "Coffee")
    _ = bench.take(.awake(widget))
    _ = bench.reload(widget, "Coffee")
    #expect(bench.take(.answered(question("Coffee", 1))) == [.ask(question("Coffee", 2))])
  }

  @Test func `a snapshot is asked for after the timelines that are owed`() {
    var bench = Bench()
    _ = bench.take(.learned(widget, kinds: ["Coffee", "Tea"]))
    #expect(bench.take(.snapshot(kind: "Tea", serial: 7)) == [want(widget)])
    _ = bench.reload(widget, "Coffee")
    #expect(bench.take(.awake(widget)) == [.ask(question("Coffee"))])
    #expect(bench.take(.answered(question("Coffee"))) == [.ask(snapshot("Tea", 7))])
    #expect(bench.take(.answered(snapshot("Tea", 7))) == [release(widget)])
  }

  @Test func `a snapshot that takes too long halts the extension, and one whose extension dies is not asked for again`()
  {
    var bench = Bench()
    _ = bench.take(.learned(widget, kinds: ["Coffee"]))
    _ = bench.take(.snapshot(kind: "Coffee", serial: 1))
    _ = bench.take(.awake(widget))
    let reason = "no snapshot within 30 s: the extension is halted half-way, and the last timeline stays"
    #expect(
      bench.take(.overran(snapshot("Coffee", 1), limit: 30)) == [
        .stopAsking(widget), .noSnapshot(serial: 1, reason: reason), .intent(.halt(widget, because: "timeline")),
      ])
    _ = bench.take(.snapshot(kind: "Coffee", serial: 2))
    _ = bench.take(.awake(widget))
    #expect(
      bench.take(.lifeEnded(widget)) == [
        .stopAsking(widget), .noSnapshot(serial: 2, reason: "the extension died while it was asked"), release(widget),
      ])
  }

  @Test func `a kind that nobody is known to have is looked for in all that never ran`() {
    var bench = Bench()
    #expect(bench.take(.snapshot(kind: "Coffee", serial: 1)) == [want(widget), want(other)])
    _ = bench.take(.learned(widget, kinds: ["Tea"]))
    #expect(bench.take(.awake(widget)) == [release(widget)])
    _ = bench.take(.learned(other, kinds: ["Coffee"]))
    #expect(bench.take(.awake(other)) == [.ask(snapshot("Coffee", 1, of: other))])
    let reason = "no widget is of kind Water; there are: Coffee, Tea"
    #expect(bench.take(.snapshot(kind: "Water", serial: 2)) == [.noSnapshot(serial: 2, reason: reason)])
  }

  @Test func `all kinds are asked for one after the other`() {
    var bench = Bench()
    _ = bench.take(.learned(widget, kinds: ["Coffee", "Tea"]))
    _ = bench.reload(widget, nil)
    #expect(bench.take(.awake(widget)) == [.ask(question("Coffee"))])
    #expect(bench.take(.answered(question("Coffee"))) == [.ask(question("Tea"))])
    #expect(bench.take(.answered(question("Tea"))) == [release(widget)])
  }

  @Test func `a kind that nobody has fails with the kinds that there are`() {
    var bench = Bench()
    _ = bench.reload(person, "Milk")
    _ = bench.take(.learned(widget, kinds: ["Coffee"]))
    #expect(bench.take(.awake(widget)) == [release(widget)])
    _ = bench.take(.learned(other, kinds: ["Tea"]))
    let reason = "no widget is of kind Milk; there are: Coffee, Tea"
    #expect(
      bench.take(.awake(other))
        == [.gaveUp(bundle: "org.other.Widget", kind: "Milk", reason: reason, .none), release(other)])
  }

  @Test func `an extension that dies while it is asked is asked once more`() {
    var bench = Bench()
    _ = bench.take(.learned(widget, kinds: ["Coffee"]))
    _ = bench.reload(widget, "Coffee")
    _ = bench.take(.awake(widget))
    #expect(bench.take(.lifeEnded(widget)) == [.stopAsking(widget), want(widget)])
    #expect(bench.take(.awake(widget)) == [.ask(question("Coffee"))])
    let answers = bench.take(.lifeEnded(widget))
    #expect(answers.first == .stopAsking(widget))
    #expect(answers.last == release(widget))
    #expect(answers.contains { if case .gaveUp = $0 { true } else { false } })
  }

  @Test func `a failure is told, and the extension is let go`() {
    var bench = Bench()
    _ = bench.take(.learned(widget, kinds: ["Coffee"]))
    _ = bench.reload(widget, "Coffee")
    _ = bench.take(.awake(widget))
    #expect(
      bench.take(.failed(question("Coffee"), reason: "no"))
        == [.gaveUp(bundle: "com.example.Coffee.Widget", kind: "Coffee", reason: "no", .none), release(widget)])
  }

  @Test func `an extension that does not answer in time is halted half-way, and asked for what else it owes`() {
    var bench = Bench()
    _ = bench.take(.learned(widget, kinds: ["Coffee", "Tea"]))
    _ = bench.reload(widget, nil)
    _ = bench.take(.awake(widget))
    func reason(_ kind: String) -> TimelineDecision.Answer {
      let reason = "no timeline within 30 s: the extension is halted half-way, and the last timeline stays"
      return .gaveUp(bundle: "com.example.Coffee.Widget", kind: kind, reason: reason, .none)
    }
    let halt = TimelineDecision.Answer.intent(.halt(widget, because: "timeline"))
    let answers = bench.take(.overran(question("Coffee"), limit: 30))
    #expect(answers == [.stopAsking(widget), reason("Coffee"), halt, want(widget)])
    #expect(bench.take(.answered(question("Coffee"))) == [])
    #expect(bench.take(.awake(widget)) == [.ask(question("Tea"))])
    #expect(bench.take(.overran(question("Tea"), limit: 30)) == [.stopAsking(widget), reason("Tea"), halt])
    #expect(bench.take(.overran(question("Tea"), limit: 30)) == [])
  }
}
