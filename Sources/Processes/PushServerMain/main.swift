import PushServer
import StandingProcesses

await PushServerCommand.start()
