import HostSystem
import StandingProcesses

await HostCommand.start()
