// SPDX-License-Identifier: Apache-2.0

import DeviceFleet
import StandingProcesses

await DeviceFleetCommand.start()
