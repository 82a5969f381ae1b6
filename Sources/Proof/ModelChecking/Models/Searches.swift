// SPDX-License-Identifier: Apache-2.0

/// The searches that `scripts/prove` runs.
package enum Searches {
  /// One search, whatever its model is.
  package struct Item: Sendable {
    package let name: String
    package let about: String
    /// Its own bound; `nil`: it is complete.
    package let states: Int?
    package let run: @Sendable (_ bounds: Bounds, _ workers: Int) async -> SearchReport
    package let replay: @Sendable (_ steps: [String], _ property: String) -> Replay

    init(_ model: some Model, states: Int? = nil) {
      name = model.name
      about = model.about
      self.states = states
      run = { bounds, workers in
        var bounds = bounds
        bounds.states = min(bounds.states, states ?? bounds.states)
        return await Search(model, bounds, workers: workers).run()
      }
      replay = { Search(model, Bounds(states: 200_000)).replay($0, $1) }
    }
  }

  /// Takes the steps of a counterexample again.
  package static func replay(_ search: String, _ steps: [String], _ property: String) -> Replay {
    all.first { $0.name == search }?.replay(steps, property) ?? .unknownProperty
  }

  package static let all: [Item] = [
    Item(
      LaunchModel(
        "launching",
        about: "One extension and its agent: three wishes, the exit of each process, and a launch that fails.",
        wishes: 3,
        LaunchFaults {
          $0.crashes = 1
          $0.agentExits = 1
          $0.hostExits = 1
          $0.refusals = 1
        })),
    Item(
      LaunchModel(
        "launching.bus", about: "Lost, late and repeated messages, and generations that are given twice.", wishes: 2,
        endsIdle: false,
        LaunchFaults {
          $0.crashes = 1
          $0.deadlines = 1
          $0.losses = 1
          $0.repetitions = 1
          $0.overtakings = 1
          $0.losesGenerations = 1
        })),
    Item(
      LaunchModel(
        "launching.agents", about: "Two agents end, with messages that overtake others.", wishes: 3,
        LaunchFaults {
          $0.agentExits = 2
          $0.overtakings = 1
          $0.losses = 1
        })),
    Item(
      LaunchModel(
        "launching.wishes", about: "Three wishes, an eviction, two exits, two lost replies.", wishes: 3, evictions: 1,
        LaunchFaults {
          $0.crashes = 2
          $0.deadlines = 2
        })),
    Item(
      DeviceModel(
        "delivery", about: "One session with two tasks: the extension exits, takes too long, and is wanted for more.",
        DeviceScope {
          $0.tasks = 2
          $0.exits = 1
          $0.wishes = 1
        },
        [
          .eventually("the events of all tasks are handled") { $0.areEventsHandled },
          .sometimes("a handler is called") { $0.met.contains(.woken) },
          .sometimes("events reach a running extension without its handler") { $0.met.contains(.withoutHandler) },
          .sometimes("events are delivered to a second instance") { $0.met.contains(.redelivered) },
          .sometimes("an extension is checked after the deadline") { $0.met.contains(.evicted) },
        ])),
    Item(
      DeviceModel(
        "delivery.delays",
        about: "One task, and messages between host and agent that take time and are repeated, for 6 s.",
        DeviceScope {
          $0.tasks = 1
          $0.exits = 1
          $0.wishes = 1
          $0.hasDelays = true
          $0.seconds = 6
          $0.faults.repetitions = 1
        },
        [.eventually("the events of all tasks are handled") { $0.areEventsHandled }])),
    Item(
      DeviceModel(
        "loading", about: "Two tasks, a network that goes and returns, and an attempt that fails, for 40 s.",
        DeviceScope {
          $0.tasks = 2
          $0.loads = true
          $0.failures = 1
          $0.networkChanges = 1
          $0.seconds = 40
          $0.wishes = 1
        },
        [
          .eventually("all tasks are loaded, and their events are handled") { $0.areEventsHandled },
          .sometimes("a task is stopped while it is loaded") { $0.met.contains(.stopped) },
          .sometimes("a failed attempt is repeated") { $0.met.contains(.retried) },
          .sometimes("the resume rate limiter is raised") { $0.met.contains(.limited) },
        ])),
    Item(
      DeviceModel(
        "timelines", about: "One widget: reloads, a provider that takes too long or exits, and a lock, with a budget.",
        DeviceScope {
          $0.hasWidget = true
          $0.reloads = 3
          $0.overruns = 1
          $0.locks = 1
          $0.exits = 1
        },
        [
          .eventually("every reload has its timeline") { $0.areTimelinesStored },
          .sometimes("a reload waits for the end of the spacing") { $0.met.contains(.delayed) },
          .sometimes("a reload waits for the budget") { $0.met.contains(.unpaid) },
          .sometimes("the extension exits during a request") { $0.met.contains(.exitedDuringRequest) },
        ])),
    Item(
      DeviceModel(
        "pushes", about: "Tokens and notifications of one widget: pushes, a replaced token, a handler that fails.",
        DeviceScope {
          $0.hasWidget = true
          $0.pushes = 2
          $0.replacements = 1
          $0.removals = 1
          $0.failedCalls = 1
          $0.exits = 1
        },
        [
          .eventually("every notification has its results, and the handler has the token") { $0.arePushesHandled },
          .sometimes("a push replaces an earlier one") { $0.met.contains(.superseded) },
          .sometimes("a push waits for the budget") { $0.met.contains(.delayed) },
          .sometimes("the token is replaced") { $0.met.contains(.tokenReplaced) },
        ])),
    Item(
      DeviceModel(
        "delivery.hosts", about: "One session with a task: the host is killed, and the extension exits, for 10 s.",
        DeviceScope {
          $0.tasks = 1
          $0.wishes = 1
          $0.exits = 1
          $0.seconds = 10
          $0.hostExits = 1
        },
        [.eventually("the events of all tasks are handled") { $0.areEventsHandled }])),
    Item(
      DeviceModel(
        "loading.hosts", about: "A task, a network that goes and returns, and a host that is killed, for 40 s.",
        DeviceScope {
          $0.tasks = 1
          $0.loads = true
          $0.failures = 1
          $0.networkChanges = 1
          $0.seconds = 40
          $0.wishes = 1
          $0.hostExits = 1
        },
        [.eventually("all tasks are loaded, and their events are handled") { $0.areEventsHandled }])),
    Item(
      DeviceModel(
        "timelines.hosts",
        about: "One widget: reloads, a provider that exits or takes too long, a host that is killed, for 60 s.",
        DeviceScope {
          $0.hasWidget = true
          $0.reloads = 2
          $0.overruns = 1
          $0.exits = 1
          $0.seconds = 60
          $0.hostExits = 1
        },
        [.eventually("every reload has its timeline") { $0.areTimelinesStored }])),
    Item(
      DeviceModel(
        "pushes.hosts", about: "Two pushes, an exit of the extension, and a host that is killed, for 60 s.",
        DeviceScope {
          $0.hasWidget = true
          $0.pushes = 2
          $0.exits = 1
          $0.seconds = 60
          $0.hostExits = 1
        },
        [
          .eventually("every notification has its results, and the handler has the token") { $0.arePushesHandled }
        ])),
    Item(
      DeviceModel(
        "device", about: "The whole device: one task, one widget, one push, an exit, a lock, with delays.",
        DeviceScope {
          $0.tasks = 1
          $0.loads = true
          $0.networkChanges = 1
          $0.hasWidget = true
          $0.reloads = 1
          $0.locks = 1
          $0.pushes = 1
          $0.exits = 1
          $0.hasDelays = true
        },
        [
          .eventually("all that was asked of the device is done") {
            $0.areEventsHandled && $0.areTimelinesStored && $0.arePushesHandled
          }
        ]), states: 150_000),
    Item(
      PushModel(
        "server", about: "The push server: three notifications, a network that goes, exits of host and server.",
        PushScope {
          $0.pushes = 3
          $0.networkChanges = 1
          $0.hostExits = 1
          $0.serverExits = 1
          $0.repetitions = 1
          $0.endsToken = true
        })),
    Item(
      PushModel(
        "server.priorities", about: "Low priority, a sleeping device, an expiration, and one attempt.",
        PushScope {
          $0.pushes = 3
          $0.networkChanges = 1
          $0.powerChanges = 2
          $0.isOfLowPriority = true
          $0.hasExpiration = true
          $0.isFirstForOnce = true
          $0.serverExits = 1
          $0.interval = 4
        })),
    Item(
      ReplicaModel(
        "server.replicas", about: "Two replicas with one database: an exit and a stop.",
        ReplicaScope {
          $0.pushes = 2
          $0.exits = 1
          $0.stops = 1
        })),
    Item(
      ReplicaModel(
        "server.replicas.network", about: "The same with a stop, and a network that goes and returns.",
        ReplicaScope {
          $0.pushes = 2
          $0.stops = 1
          $0.networkChanges = 1
        })),
    Item(
      ReplicaModel(
        "server.replicas.hosts", about: "The same, with an exit of the device's host.",
        ReplicaScope {
          $0.pushes = 2
          $0.stops = 1
          $0.hostExits = 1
        })),
    Item(
      ReplicaModel(
        "server.replicas.fleet", about: "The same for a device of a fleet, which forgets ids and compares epochs.",
        ReplicaScope {
          $0.pushes = 2
          $0.exits = 1
          $0.stops = 1
          $0.isOfFleet = true
        })),
  ]
}
