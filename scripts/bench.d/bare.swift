// The floor under an extension's launch: a static Swift executable whose first line says what time it is.

import Glibc

var time = timespec()
clock_gettime(CLOCK_REALTIME, &time)
print("began \(time.tv_sec * 1_000_000 + time.tv_nsec / 1000)")
