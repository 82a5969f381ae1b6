// SPDX-License-Identifier: Apache-2.0

import MessageBusBroker
import StandingProcesses

await MessageBusCommand.start()
