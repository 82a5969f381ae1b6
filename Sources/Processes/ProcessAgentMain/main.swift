import ProcessAgent

await AgentCommand.main(reportedPid: { $0 })
