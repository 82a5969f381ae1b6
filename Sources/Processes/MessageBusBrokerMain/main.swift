import MessageBusBroker

await MessageBusCommand.start()
