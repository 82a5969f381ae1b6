// SPDX-License-Identifier: Apache-2.0

package import AuthorRuntime
import DefaultsLog
import Foundation
import Messages
import Synchronization

/// Performs inline requests in the author's process with libcurl, which is loaded when the first one is resumed.
package final class CurlPerformer: InlinePerformer {
  private let network: DeviceNetwork
  private let jar: CookieStorage
  private let rules: ProcessRules

  private init(_ process: HostedProcess) {
    network = DeviceNetwork.of(process)
    jar = CookieStorage(in: process.container)
    rules = process.rules
    if let problem = CurlLine.problem { process.log(problem) }
  }

  /// Enables inline requests in this process, subject to the device's network. Call before the process is announced.
  package static func serve(_ process: HostedProcess) {
    _ = DeviceNetwork.of(process)
    InlineRequests.of(process).performed { CurlPerformer(process) }
  }

  package func session(_ configuration: InlineConfiguration) -> any InlineConnections {
    CurlConnections(configuration, on: network, sharing: jar, rules: rules)
  }
}

/// The shared state of a session's requests: connections, cookies, and the number of concurrent requests per host.
final class CurlConnections: InlineConnections {
  private struct State {
    /// By host.
    var running: [String: Int] = [:]
    var waitingExchanges: [String: [CurlExchange]] = [:]
    var idle: [CurlLine] = []
    var isClosed = false
  }

  /// The number of idle handles that are kept with their connections.
  private static let idleLimit = 6

  let configuration: InlineConfiguration
  let network: DeviceNetwork
  /// A request fails with -1007 after this many redirections.
  let redirectLimit: Int
  /// A request fails with -1005 after a longer suspension of the process. Seconds; 0: never.
  let suspensionLimit: Double
  private let jar: CookieStorage?
  private let state = Mutex(State())

  init(
    _ configuration: InlineConfiguration, on network: DeviceNetwork, sharing jar: CookieStorage, rules: ProcessRules
  ) {
    self.configuration = configuration
    redirectLimit = rules.inlineRedirectLimit
    suspensionLimit = configuration.isBackground ? 0 : rules.inlineSuspensionLimit
    self.network = network
    self.jar =
      switch configuration.cookies {
      case .ofSession: CookieStorage()
      case .shared: jar
      case .none: nil
      }
  }

  func exchange(_ request: URLRequest, body: InlineBody, _ observer: any InlineObserver) -> any InlineExchange {
    CurlExchange(request, body: body, observer: observer, on: self)
  }

  func reset() async {
    jar?.clear()
    let idle = state.withLock { state in
      defer { state.idle = [] }
      return state.idle
    }
    _ = idle
  }

  func close() {
    let idle = state.withLock { state in
      state.isClosed = true
      defer { state.idle = [] }
      return state.idle
    }
    _ = idle
  }

  /// The value of `Cookie` for a request.
  func cookies(for request: URLRequest, to url: URL) -> String? {
    request.httpShouldHandleCookies && configuration.setsCookies ? jar?.header(for: url, at: Date()) : nil
  }

  /// Stores the cookies of a response.
  func store(_ cookies: [String], from url: URL, for request: URLRequest) {
    guard request.httpShouldHandleCookies, configuration.cookieAcceptPolicy != .never else { return }
    jar?.store(cookies, from: url, at: Date())
  }

  // MARK: Concurrency limit

  /// Performs the exchange as soon as its host's limit allows.
  func enqueue(_ exchange: CurlExchange) {
    let isFree = state.withLock { state in
      let running = state.running[exchange.place, default: 0]
      guard running < max(configuration.httpMaximumConnectionsPerHost, 1) else {
        state.waitingExchanges[exchange.place, default: []].append(exchange)
        return false
      }
      state.running[exchange.place] = running + 1
      return true
    }
    if isFree { exchange.perform(inPlace: true) }
  }

  /// Performs a cancelled exchange at once, outside the limit, so that it can end.
  func hurry(_ exchange: CurlExchange) {
    let isWaiting = state.withLock { state in
      let index = state.waitingExchanges[exchange.place]?.firstIndex { $0 === exchange }
      if let index { state.waitingExchanges[exchange.place]?.remove(at: index) }
      return index != nil
    }
    if isWaiting { exchange.perform(inPlace: false) }
  }

  /// An exchange within the limit has ended.
  func left(_ place: String) {
    let next = state.withLock { state -> CurlExchange? in
      if var waitingExchanges = state.waitingExchanges[place], !waitingExchanges.isEmpty {
        let next = waitingExchanges.removeFirst()
        state.waitingExchanges[place] = waitingExchanges.isEmpty ? nil : waitingExchanges
        return next
      }
      let running = state.running[place, default: 1] - 1
      state.running[place] = running == 0 ? nil : running
      return nil
    }
    next?.perform(inPlace: true)
  }

  // MARK: Handles

  func takeLine() throws(URLError) -> CurlLine {
    if let line = state.withLock({ $0.idle.popLast() }) { return line }
    return try CurlLine()
  }

  func giveBack(_ line: CurlLine) {
    state.withLock { state in
      if !state.isClosed, state.idle.count < CurlConnections.idleLimit { state.idle.append(line) }
    }
  }
}
