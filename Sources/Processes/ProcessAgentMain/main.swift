import ProcessAgent
import StandingProcesses

await AgentCommand.start()
