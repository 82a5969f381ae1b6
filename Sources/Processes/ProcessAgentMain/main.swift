// SPDX-License-Identifier: Apache-2.0

import ProcessAgent
import StandingProcesses

await AgentCommand.start()
