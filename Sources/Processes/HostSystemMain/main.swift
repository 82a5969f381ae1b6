import HostSystem

await HostCommand.start()
