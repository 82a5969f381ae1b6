// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// A value that is written and read without `JSONEncoder` and `JSONDecoder`, which take a multiple of the time, most of
/// all in a process that has just been launched. The bytes are the same.
///
/// The properties are written and read in the order of the bytes of their names.
package protocol DirectJSON: Codable {
  func write(to json: inout JSONWriter)
  init(reading json: inout JSONReader) throws(JSONReader.Unusual)
}

extension String: DirectJSON {
  package func write(to json: inout JSONWriter) { json.write(string: self) }
  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) { self = try json.string() }
}

extension Bool: DirectJSON {
  package func write(to json: inout JSONWriter) { json.write(boolean: self) }
  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) { self = try json.boolean() }
}

extension DirectJSON where Self: FixedWidthInteger {
  package func write(to json: inout JSONWriter) { json.write(integer: self) }
  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) { self = try json.integer() }
}

extension Int: DirectJSON {}
extension Int32: DirectJSON {}
extension Int64: DirectJSON {}
extension UInt32: DirectJSON {}

extension DirectJSON where Self: BinaryFloatingPoint & LosslessStringConvertible {
  package func write(to json: inout JSONWriter) { json.write(number: self) }
  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) { self = try json.number() }
}

extension Double: DirectJSON {}
extension Float: DirectJSON {}

extension Array: DirectJSON where Element: DirectJSON {
  package func write(to json: inout JSONWriter) { json.write(elements: self) }
  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) { self = try json.elements() }
}

/// Seconds since 1970.
extension Date: DirectJSON {
  package func write(to json: inout JSONWriter) { json.write(number: timeIntervalSince1970) }
  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) {
    self.init(timeIntervalSince1970: try json.number())
  }
}

/// Base64.
extension Data: DirectJSON {
  package func write(to json: inout JSONWriter) { json.write(string: base64EncodedString()) }
  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) {
    self = try Data(base64Encoded: json.string()).usual()
  }
}

extension UUID: DirectJSON {
  package func write(to json: inout JSONWriter) { json.write(string: upperCaseText) }
  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) {
    self = try UUID(uuidString: json.string()).usual()
  }
}

/// An enumeration of strings needs only the conformance.
extension DirectJSON where Self: RawRepresentable, RawValue == String {
  package func write(to json: inout JSONWriter) { json.write(string: rawValue) }
  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) {
    self = try Self(rawValue: json.string()).usual()
  }
}

extension Address: DirectJSON {
  package func write(to json: inout JSONWriter) { json.write(string: text) }
  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) {
    self = try Address(json.string()).usual()
  }
}

extension Optional {
  /// The value. `JSONDecoder` reports why it is missing.
  fileprivate func usual() throws(JSONReader.Unusual) -> Wrapped {
    guard let self else { throw JSONReader.Unusual() }
    return self
  }
}

// What every process sends and receives when it is launched.

extension Done: DirectJSON {
  package func write(to json: inout JSONWriter) {
    json.open()
    json.close()
  }

  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) {
    try json.open()
    try json.close()
  }
}

extension Hello: DirectJSON {
  package func write(to json: inout JSONWriter) {
    json.open()
    json.write("incarnation", incarnation)
    if let opening { json.write("opening", opening) }
    json.write("pid", pid)
    if let store { json.write("store", store) }
    json.close()
  }

  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) {
    try json.open()
    incarnation = try json.read("incarnation")
    opening = try json.readIfPresent("opening")
    pid = try json.read("pid")
    store = try json.readIfPresent("store")
    try json.close()
  }
}

extension GenerationReply: DirectJSON {
  package func write(to json: inout JSONWriter) {
    json.open()
    json.write("generation", generation)
    json.close()
  }

  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) {
    try json.open()
    generation = try json.read("generation")
    try json.close()
  }
}

extension RegisterInstance: DirectJSON {
  package func write(to json: inout JSONWriter) {
    json.open()
    json.write("address", address)
    json.write("publicKey", publicKey)
    json.close()
  }

  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) {
    try json.open()
    address = try json.read("address")
    publicKey = try json.read("publicKey")
    try json.close()
  }
}

extension InstanceReply: DirectJSON {
  package func write(to json: inout JSONWriter) {
    json.open()
    json.write("generation", generation)
    json.write("pid", pid)
    json.close()
  }

  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) {
    try json.open()
    generation = try json.read("generation")
    pid = try json.read("pid")
    try json.close()
  }
}

// The events of background sessions, and what an author's process records about them.

extension OpenSession.Reply: DirectJSON {
  package func write(to json: inout JSONWriter) {
    json.open()
    json.write("nextTaskIdentifier", nextTaskIdentifier)
    json.write("tasks", tasks)
    json.write("tasksFile", tasksFile)
    json.close()
  }

  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) {
    try json.open()
    nextTaskIdentifier = try json.read("nextTaskIdentifier")
    tasks = try json.read("tasks")
    tasksFile = try json.readIfPresent("tasksFile")
    try json.close()
  }
}

extension SessionEvents: DirectJSON {
  package func write(to json: inout JSONWriter) {
    json.open()
    json.write("fileTasks", fileTasks)
    json.write("finishes", finishes)
    json.write("handlerComesLast", handlerComesLast)
    json.write("outcomes", outcomes)
    json.write("outcomesFile", outcomesFile)
    json.write("session", session)
    json.write("wakesHandler", wakesHandler)
    json.close()
  }

  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) {
    try json.open()
    fileTasks = try json.readIfPresent("fileTasks")
    finishes = try json.read("finishes")
    handlerComesLast = try json.read("handlerComesLast")
    outcomes = try json.read("outcomes")
    outcomesFile = try json.readIfPresent("outcomesFile")
    session = try json.read("session")
    wakesHandler = try json.read("wakesHandler")
    try json.close()
  }
}

extension SessionAcknowledged: DirectJSON {
  package func write(to json: inout JSONWriter) {
    json.open()
    json.write("delivery", delivery)
    json.write("owner", owner)
    json.write("session", session)
    json.write("tasks", tasks)
    json.close()
  }

  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) {
    try json.open()
    delivery = try json.read("delivery")
    owner = try json.read("owner")
    session = try json.read("session")
    tasks = try json.readIfPresent("tasks")
    try json.close()
  }
}

extension HandlerCalled: DirectJSON {
  package func write(to json: inout JSONWriter) {
    json.open()
    json.write("matching", matching)
    json.write("pid", pid)
    json.write("session", session)
    json.close()
  }

  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) {
    try json.open()
    matching = try json.read("matching")
    pid = try json.read("pid")
    session = try json.read("session")
    try json.close()
  }
}

extension DelegateCalled: DirectJSON {
  package func write(to json: inout JSONWriter) {
    json.open()
    json.write("bytes", bytes)
    json.write("failureCode", failureCode)
    json.write("method", method)
    json.write("session", session)
    json.write("sha256", sha256)
    json.write("taskIdentifier", taskIdentifier)
    json.close()
  }

  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) {
    try json.open()
    bytes = try json.readIfPresent("bytes")
    failureCode = try json.readIfPresent("failureCode")
    method = try json.read("method")
    session = try json.read("session")
    sha256 = try json.readIfPresent("sha256")
    taskIdentifier = try json.readIfPresent("taskIdentifier")
    try json.close()
  }
}

extension CompletionCalled: DirectJSON {
  package func write(to json: inout JSONWriter) {
    json.open()
    json.write("outstanding", outstanding)
    json.write("session", session)
    json.close()
  }

  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) {
    try json.open()
    outstanding = try json.read("outstanding")
    session = try json.read("session")
    try json.close()
  }
}

extension FaultNoticed.Fault: DirectJSON {}

extension FaultNoticed: DirectJSON {
  package func write(to json: inout JSONWriter) {
    json.open()
    json.write("details", details)
    json.write("fault", fault)
    json.write("subject", subject)
    json.close()
  }

  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) {
    try json.open()
    details = try json.read("details")
    fault = try json.read("fault")
    subject = try json.read("subject")
    try json.close()
  }
}

// The transfers of background sessions, as sent on the bus and stored.

extension TransferType: DirectJSON {}
extension TransferProgress.Step: DirectJSON {}

extension TransferRequest: DirectJSON {
  package func write(to json: inout JSONWriter) {
    json.open()
    json.write("allowsCellularAccess", allowsCellularAccess)
    json.write("allowsConstrainedNetworkAccess", allowsConstrainedNetworkAccess)
    json.write("allowsExpensiveNetworkAccess", allowsExpensiveNetworkAccess)
    json.write("body", body)
    json.write("handlesCookies", handlesCookies)
    json.write("headers", headers)
    json.write("method", method)
    json.write("timeoutInterval", timeoutInterval)
    json.write("url", url)
    json.close()
  }

  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) {
    try json.open()
    allowsCellularAccess = try json.read("allowsCellularAccess")
    allowsConstrainedNetworkAccess = try json.read("allowsConstrainedNetworkAccess")
    allowsExpensiveNetworkAccess = try json.read("allowsExpensiveNetworkAccess")
    body = try json.readIfPresent("body")
    handlesCookies = try json.readIfPresent("handlesCookies")
    headers = try json.read("headers")
    method = try json.read("method")
    timeoutInterval = try json.readIfPresent("timeoutInterval")
    url = try json.read("url")
    try json.close()
  }
}

extension TransferResponse: DirectJSON {
  package func write(to json: inout JSONWriter) {
    json.open()
    json.write("expectedLength", expectedLength)
    json.write("headers", headers)
    json.write("status", status)
    json.write("url", url)
    json.close()
  }

  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) {
    try json.open()
    expectedLength = try json.read("expectedLength")
    headers = try json.read("headers")
    status = try json.read("status")
    url = try json.read("url")
    try json.close()
  }
}

extension TransferFailure: DirectJSON {
  package func write(to json: inout JSONWriter) {
    json.open()
    json.write("cancelledReason", cancelledReason)
    json.write("code", code)
    json.write("domain", domain)
    json.write("message", message)
    json.write("networkUnavailableReason", networkUnavailableReason)
    json.write("resumeData", resumeData)
    json.close()
  }

  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) {
    try json.open()
    cancelledReason = try json.readIfPresent("cancelledReason")
    code = try json.read("code")
    domain = try json.read("domain")
    message = try json.read("message")
    networkUnavailableReason = try json.readIfPresent("networkUnavailableReason")
    resumeData = try json.readIfPresent("resumeData")
    try json.close()
  }
}

extension TransferMetrics: DirectJSON {
  package func write(to json: inout JSONWriter) {
    json.open()
    json.write("attempts", attempts)
    json.write("began", began)
    json.write("ended", ended)
    json.write("redirectCount", redirectCount)
    json.close()
  }

  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) {
    try json.open()
    attempts = try json.read("attempts")
    began = try json.read("began")
    ended = try json.read("ended")
    redirectCount = try json.read("redirectCount")
    try json.close()
  }
}

extension TaskSnapshot: DirectJSON {
  package func write(to json: inout JSONWriter) {
    json.open()
    json.write("bytesClientExpectsToReceive", bytesClientExpectsToReceive)
    json.write("bytesClientExpectsToSend", bytesClientExpectsToSend)
    json.write("bytesExpected", bytesExpected)
    json.write("bytesExpectedToSend", bytesExpectedToSend)
    json.write("bytesReceived", bytesReceived)
    json.write("bytesSent", bytesSent)
    json.write("currentRequest", currentRequest)
    json.write("earliestBeginDate", earliestBeginDate)
    json.write("isSuspended", isSuspended)
    json.write("priority", priority)
    json.write("request", request)
    json.write("taskDescription", taskDescription)
    json.write("taskIdentifier", taskIdentifier)
    json.write("type", type)
    json.close()
  }

  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) {
    try json.open()
    bytesClientExpectsToReceive = try json.read("bytesClientExpectsToReceive")
    bytesClientExpectsToSend = try json.read("bytesClientExpectsToSend")
    bytesExpected = try json.read("bytesExpected")
    bytesExpectedToSend = try json.read("bytesExpectedToSend")
    bytesReceived = try json.read("bytesReceived")
    bytesSent = try json.read("bytesSent")
    currentRequest = try json.readIfPresent("currentRequest")
    earliestBeginDate = try json.readIfPresent("earliestBeginDate")
    isSuspended = try json.read("isSuspended")
    priority = try json.read("priority")
    request = try json.read("request")
    taskDescription = try json.readIfPresent("taskDescription")
    taskIdentifier = try json.read("taskIdentifier")
    type = try json.read("type")
    try json.close()
  }
}

extension TaskOutcome: DirectJSON {
  package func write(to json: inout JSONWriter) {
    json.open()
    json.write("failure", failure)
    json.write("file", file)
    json.write("metrics", metrics)
    json.write("response", response)
    json.write("task", task)
    json.close()
  }

  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) {
    try json.open()
    failure = try json.readIfPresent("failure")
    file = try json.readIfPresent("file")
    metrics = try json.readIfPresent("metrics")
    response = try json.readIfPresent("response")
    task = try json.read("task")
    try json.close()
  }
}

extension CreateTransfer: DirectJSON {
  package func write(to json: inout JSONWriter) {
    json.open()
    json.write("asksBeforeDelayedRequest", asksBeforeDelayedRequest)
    json.write("bytesClientExpectsToReceive", bytesClientExpectsToReceive)
    json.write("bytesClientExpectsToSend", bytesClientExpectsToSend)
    json.write("earliestBeginDate", earliestBeginDate)
    json.write("file", file)
    json.write("priority", priority)
    json.write("request", request)
    json.write("resumeData", resumeData)
    json.write("session", session)
    json.write("taskDescription", taskDescription)
    json.write("taskIdentifier", taskIdentifier)
    json.write("type", type)
    json.close()
  }

  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) {
    try json.open()
    asksBeforeDelayedRequest = try json.read("asksBeforeDelayedRequest")
    bytesClientExpectsToReceive = try json.read("bytesClientExpectsToReceive")
    bytesClientExpectsToSend = try json.read("bytesClientExpectsToSend")
    earliestBeginDate = try json.readIfPresent("earliestBeginDate")
    file = try json.readIfPresent("file")
    priority = try json.read("priority")
    request = try json.read("request")
    resumeData = try json.readIfPresent("resumeData")
    session = try json.read("session")
    taskDescription = try json.readIfPresent("taskDescription")
    taskIdentifier = try json.read("taskIdentifier")
    type = try json.read("type")
    try json.close()
  }
}

extension TransferCounted: DirectJSON {
  package func write(to json: inout JSONWriter) {
    json.open()
    json.write("bytesExpected", bytesExpected)
    json.write("bytesExpectedToSend", bytesExpectedToSend)
    json.write("bytesReceived", bytesReceived)
    json.write("bytesSent", bytesSent)
    json.write("resumedAt", resumedAt)
    json.write("session", session)
    json.write("taskIdentifier", taskIdentifier)
    json.close()
  }

  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) {
    try json.open()
    bytesExpected = try json.read("bytesExpected")
    bytesExpectedToSend = try json.read("bytesExpectedToSend")
    bytesReceived = try json.read("bytesReceived")
    bytesSent = try json.read("bytesSent")
    resumedAt = try json.readIfPresent("resumedAt")
    session = try json.read("session")
    taskIdentifier = try json.read("taskIdentifier")
    try json.close()
  }
}

extension TransferProgress: DirectJSON {
  package func write(to json: inout JSONWriter) {
    json.open()
    json.write("bytes", bytes)
    json.write("detail", detail)
    json.write("owner", owner)
    json.write("session", session)
    json.write("sha256", sha256)
    json.write("step", step)
    json.write("taskIdentifier", taskIdentifier)
    json.close()
  }

  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) {
    try json.open()
    bytes = try json.read("bytes")
    detail = try json.readIfPresent("detail")
    owner = try json.read("owner")
    session = try json.read("session")
    sha256 = try json.readIfPresent("sha256")
    step = try json.read("step")
    taskIdentifier = try json.read("taskIdentifier")
    try json.close()
  }
}
