import HostSystem

await HostProgram.main()
