import MessageBusBroker

await runBroker()
