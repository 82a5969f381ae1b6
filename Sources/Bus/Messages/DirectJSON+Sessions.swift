// SPDX-License-Identifier: Apache-2.0

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
