// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <stdint.h>

// libsqlite3, loaded on first use: an extension that opens no store does not load it. No header of SQLite is needed:
// numbers and signatures belong to its soname, libsqlite3.so.0, and have not changed since version 3.5 of 2007.

/// Loads libsqlite3, once. Returns NULL on success, otherwise the reason. Any thread. Call before all other functions.
const char *lazy_sqlite_load(void);

/// Result codes.
static const int32_t lazy_sqlite_ok = 0;
static const int32_t lazy_sqlite_row = 100;
static const int32_t lazy_sqlite_done = 101;

/// A connection, which is not opened in the mode for several threads: one thread at a time.
typedef struct lazy_sqlite lazy_sqlite;
/// A statement of a connection.
typedef struct lazy_sqlite_statement lazy_sqlite_statement;

/// Opens and creates a database. `milliseconds` is how long a statement waits for the lock of another process. Returns a
/// result code. The connection is to be closed also after a failure, if it is not NULL.
int lazy_sqlite_open(const char *path, int milliseconds, lazy_sqlite **connection);
void lazy_sqlite_close(lazy_sqlite *connection);
/// The English description of the last failure of the connection; it may be NULL.
const char *lazy_sqlite_message(lazy_sqlite *connection);
/// Executes statements without parameters and results. Returns a result code.
int lazy_sqlite_execute(lazy_sqlite *connection, const char *statements);

int lazy_sqlite_prepare(lazy_sqlite *connection, const char *text, lazy_sqlite_statement **statement);
/// Copies the value of the parameter; the first has index 1. A NULL text is SQL's NULL.
int lazy_sqlite_bind_text(lazy_sqlite_statement *statement, int index, const char *text);
int lazy_sqlite_bind_bytes(lazy_sqlite_statement *statement, int index, const void *bytes, int count);
int lazy_sqlite_bind_number(lazy_sqlite_statement *statement, int index, int64_t number);
/// Returns `lazy_sqlite_row`, `lazy_sqlite_done` or a failure.
int lazy_sqlite_step(lazy_sqlite_statement *statement);
/// A column of the row; the first has index 0. The pointer is valid until the next step.
const void *lazy_sqlite_column(lazy_sqlite_statement *statement, int index, int *count);
int64_t lazy_sqlite_column_number(lazy_sqlite_statement *statement, int index);
/// Prepares the statement for another execution.
void lazy_sqlite_reset(lazy_sqlite_statement *statement);
void lazy_sqlite_finalize(lazy_sqlite_statement *statement);
