// SPDX-License-Identifier: Apache-2.0

// The lower bound of an extension's launch time: a static Swift executable that prints the time in its first line.

import Glibc

var time = timespec()
clock_gettime(CLOCK_REALTIME, &time)
print("began \(time.tv_sec * 1_000_000 + time.tv_nsec / 1000)")
