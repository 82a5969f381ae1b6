// SPDX-License-Identifier: Apache-2.0

import PushServer
import StandingProcesses

await PushServerCommand.start()
