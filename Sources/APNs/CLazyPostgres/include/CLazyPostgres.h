// SPDX-License-Identifier: Apache-2.0

#pragma once

// The functions of libpq that PostgresStore calls, under their own names. The library is loaded at first use: with all that
// it needs, that takes as long as a third of the start of a push server, and most push servers do not use it.

/// Loads libpq. Returns NULL, or why it cannot be loaded. Call it before all other functions. Any thread.
const char *lazy_postgres_load(void);
