import PushServer

await PushServerCommand.start()
