// SPDX-License-Identifier: Apache-2.0

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

extension Hello.Reply: DirectJSON {
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

extension RegisterInstance.Reply: DirectJSON {
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

extension SpawnProcess.Reply: DirectJSON {
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
