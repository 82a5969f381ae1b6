// SPDX-License-Identifier: Apache-2.0

import Messages
import Testing

/// Which role may send which message to which role. A change of the message table must be repeated here.
private let everything = """
  request peer.hello         app extension host agent provider push-server fleet operator watcher > message-bus
  request peer.goodbye       app extension host agent provider push-server fleet operator watcher > message-bus
  request peer.ping          operator host watcher > message-bus host agent provider push-server fleet app extension
  notice  peer.raise-signal  operator > message-bus host agent provider push-server fleet
  notice  peer.presence      message-bus > app extension host agent provider push-server fleet operator watcher
  notice  peer.who           message-bus > app extension host agent provider push-server fleet operator watcher
  notice  bus.undelivered    message-bus > app extension host agent provider push-server fleet operator watcher
  notice  bus.refused        message-bus > app extension host agent provider push-server fleet operator watcher journal
  notice  peer.turned-away   message-bus > journal
  request instance.register      agent > message-bus
  request instance.retire        agent > message-bus
  notice  bus.started        message-bus > journal
  notice  peer.changed       message-bus > journal
  notice  journal.trimmed    message-bus > journal
  notice  journal.resumed    message-bus > journal
  notice  bus.strained       message-bus > journal
  notice  peer.cut-off       message-bus > journal
  notice  body.refused       app extension host agent provider push-server fleet operator watcher message-bus > journal
  request bus.status         operator host > message-bus
  request key.register       host agent provider push-server fleet operator > message-bus
  request key.renew          operator > host agent push-server
  request key.list           operator > message-bus
  notice  key.changed        message-bus > journal
  request process.spawn      host > agent
  request process.signal     host operator > agent
  request process.list       host operator > agent
  event   agent.started      agent > host
  event   process.exited     agent > host
  event   process.memory-exceeded agent > host
  event   process.locks-held agent > host
  notice  process.started    agent > journal
  notice  process.left-out-code agent > journal
  notice  process.output     agent > journal
  notice  process.state      host > journal
  request process.ready      app extension > host
  event   process.hold       app extension > host
  request app.open           operator > host
  event   app.activation     host > app
  request process.await-launch operator > host
  request device.status      operator > host
  request network.set        operator > host
  request device.move        operator > host
  notice  network.changed    host > app extension journal
  request setting.change     operator > host
  notice  setting.changed    host > app extension journal
  request clock.set          operator > host
  notice  clock.changed      host > journal
  request app.force-quit     operator > host
  request app.update         operator > host
  request defaults.read      operator > host
  request defaults.write     operator > host
  notice  defaults.changed   app extension > journal
  request session.list       operator > host
  request session.open       app extension > host
  request session.close      app extension > host
  request transfer.create    app extension > host
  request transfer.cancel    app extension > host
  request transfer.change    app extension > host
  notice  transfer.counted   host > app extension
  request transfer.begin     host > app extension
  request transfer.challenge host > app extension
  event   session.events     host > app extension
  event   session.taken      host > app extension
  notice  session.expire     host > app extension
  notice  handler.called     app extension > journal
  notice  delegate.called    app extension > journal
  notice  completion.called  app extension > journal
  notice  transfer.progress  host > journal
  notice  limiter.changed    host > journal
  notice  session.acknowledged host > journal
  notice  session.unclaimed  host > journal
  event   timeline.reload    app extension operator > host
  request timeline.request   host > extension
  request timeline.closures  host > extension
  request snapshot.take      operator > host
  request widget.archive     operator > host
  notice  timeline.stored    host > journal
  notice  timeline.failed    host > journal
  notice  timeline.shown     host > journal
  notice  budget.decided     host > journal
  request budget.list        operator > host
  notice  fault.noticed      app extension host > journal
  request gallery.list       operator > host
  request placement.add      operator > host
  request placement.edit     operator > host
  request placement.remove   operator > host
  notice  placement.changed  host > journal
  request stack.turn         operator > host
  notice  stack.turned       host > journal
  request placement.list     app extension > host
  request screen.show        operator > host
  request image.read         operator > host
  request screen.change      operator > host
  notice  screen.changed     host > journal
  request widget.tap         operator > host
  request intent.describe    host > extension
  request intent.perform     host > app extension
  event   app.open-from-widget host > app
  notice  app.device-event   host > app
  request notification.access app extension > host
  request activity.request   app operator > host
  request activity.change    app extension operator > host
  request activity.list      app extension operator > host
  request activity.allow     operator > host
  request activity.tap       operator > host
  event   activity.changed   host > app extension
  request activity.archive   host > extension
  notice  activity.moved     host > journal
  request push.token.issue   host > push-server
  request push.token.release host > push-server
  event   push.token.replaced push-server > host
  event   push.reach         host > push-server
  event   push.deliver       push-server > host
  event   push.progress      host > push-server
  notice  push.replica       push-server > message-bus
  notice  push.logged        push-server > journal
  notice  push.token.changed push-server > journal
  request push.send          operator > push-server
  request push.log           operator > push-server
  request push.token.list    operator > push-server
  request push.token.change  operator > push-server
  request push.answer        operator > push-server
  request device.power       operator > host
  request push.handlers      host > extension
  request push.handlers.controls host > extension
  notice  push.withheld      host > journal
  request push.info          app extension > host
  request push.app.register  app > host
  event   push.app.token     host > app
  request push.app.receive   host > app
  request fleet.join         fleet > push-server
  request fleet.tokens       fleet > push-server
  event   fleet.reach        fleet > push-server
  request fleet.deliver      push-server > fleet
  request fleet.pushes       fleet operator > push-server
  request fleet.status       operator > fleet
  request fleet.devices      operator > fleet
  request fleet.network      operator > fleet
  """

/// One line of the text above.
private struct Line {
  let style: MessageStyle
  let kind: Kind
  let sources: Set<Role>
  let destinations: Set<Role>

  init(_ text: Substring) throws {
    let words = text.split(separator: " ").map(String.init)
    let arrow = try #require(words.firstIndex(of: ">"), "\(text)")
    style = try #require(MessageStyle(rawValue: words[0]), "\(text)")
    kind = try #require(Kind(words[1]), "\(text)")
    sources = Set(try words[2..<arrow].map { try #require(Role(rawValue: $0), "\(text)") })
    destinations = Set(try words[(arrow + 1)...].map { try #require(Role(rawValue: $0), "\(text)") })
  }

  /// Whether the message may take this route, itself or as a reply that its style has.
  func allows(_ answer: Kind.Answer?, from source: Role, to destination: Role) -> Bool {
    switch (style, answer) {
    case (_, nil): sources.contains(source) && destinations.contains(destination)
    case (.request, .ok), (.request, .failed), (.event, .acknowledged), (.event, .failed):
      sources.contains(destination) && destinations.contains(source)
    default: false
    }
  }
}

@Suite struct `The whole message table` {
  private let lines: [Line]

  init() throws { lines = try everything.split(separator: "\n").map { try Line($0) } }

  private static func address(_ role: Role, device: String = "phone") -> Address {
    switch role {
    case .messageBus: .messageBus
    case .journal: .journal
    case .host: .host(device)
    case .agent: .agent(device, 1)
    case .app: .app(device, "com.example.App")
    case .widgetExtension: .widgetExtension(device, "com.example.App.Widget")
    case .provider: .provider
    case .pushServer: .pushServer
    case .fleet: .fleet("load")
    case .operator: .operator("7")
    case .watcher: .watcher("7")
    }
  }

  @Test func `the message table has exactly the expected message types and styles`() {
    #expect(Set(MessageTable.all.map(\.kind)) == Set(lines.map(\.kind)))
    for line in lines { #expect(MessageTable[line.kind]?.style == line.style, "\(line.kind)") }
  }

  @Test func `the message table allows each message and reply on its declared routes and on no other`() {
    var tried = 0
    for line in lines {
      for answer in [nil] + Kind.Answer.allCases.map(Optional.some) {
        let kind = answer.map { line.kind.answered($0) } ?? line.kind
        for source in Role.allCases {
          for destination in Role.allCases {
            let header = EnvelopeHeader(
              kind: kind, source: Self.address(source), destination: Self.address(destination))
            let expected = line.allows(answer, from: source, to: destination) ? nil : "not-in-table"
            #expect(MessageTable.refusal(of: header) == expected, "\(kind) from \(source) to \(destination)")
            tried += 1
          }
        }
      }
    }
    #expect(tried == lines.count * 4 * Role.allCases.count * Role.allCases.count)
  }

  @Test func `the message table allows no message from one device to another`() {
    for line in lines {
      for source in Role.allCases {
        for destination in Role.allCases where line.allows(nil, from: source, to: destination) {
          let (here, there) = (Self.address(source), Self.address(destination, device: "pad"))
          let header = EnvelopeHeader(kind: line.kind, source: here, destination: there)
          let isOther = here.device != nil && there.device != nil
          #expect(
            MessageTable.refusal(of: header) == (isOther ? "other-device" : nil),
            "\(line.kind) from \(here) to \(there)")
        }
      }
    }
  }

  @Test(arguments: ["peer.hello/", "peer.hello/OK", "peer.hello/ok/ok", "peer.hello/later", "/ok", "Peer.hello"])
  func `a misspelled message type is refused on every route`(name: String) throws {
    let kind = try #require(Kind(name))
    for source in Role.allCases {
      for destination in Role.allCases {
        let header = EnvelopeHeader(kind: kind, source: Self.address(source), destination: Self.address(destination))
        #expect(MessageTable.refusal(of: header) == "not-in-table", "from \(source) to \(destination)")
      }
    }
  }
}
