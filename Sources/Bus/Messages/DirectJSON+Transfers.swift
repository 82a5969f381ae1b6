// SPDX-License-Identifier: Apache-2.0

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
