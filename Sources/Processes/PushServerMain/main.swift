import PushServer

await PushServerProgram.main()
