// SPDX-License-Identifier: Apache-2.0

import HostSystem
import StandingProcesses

await HostCommand.start()
