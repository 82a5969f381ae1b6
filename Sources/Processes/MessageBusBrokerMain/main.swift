import MessageBusBroker
import StandingProcesses

await MessageBusCommand.start()
