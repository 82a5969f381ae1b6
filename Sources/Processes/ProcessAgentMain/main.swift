import ProcessAgent

await AgentCommand.start()
