// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <stdbool.h>
#include <stdint.h>

// libpq, loaded on first use: with all that it needs, that takes as long as a third of the start of a push server, and most
// push servers do not use it. No header of libpq is needed: signatures and numbers belong to its soname, libpq.so.5.
// Version 14 or later. The functions are those of libpq-fe.h, for one thread at a time.

/// Loads libpq, once. Returns NULL on success, otherwise the reason. Any thread. Call before all other functions.
const char *lazy_postgres_load(void);

/// PGconn, PGresult and PGnotify.
typedef struct lazy_pq_connection lazy_pq_connection;
typedef struct lazy_pq_result lazy_pq_result;
typedef struct lazy_pq_notification lazy_pq_notification;

/// PQconninfoParse: whether a text is a connection URI. If it is not, `message` is the reason, to be freed with
/// `lazy_pq_free`, or NULL without memory.
bool lazy_pq_accepts(const char *uri, char **message);
void lazy_pq_free(char *message);

/// PQconnectdbParams: both lists end with NULL, and the value of `dbname` may be a URI. Returns NULL without memory.
lazy_pq_connection *lazy_pq_connect(const char *const *keys, const char *const *values);
void lazy_pq_finish(lazy_pq_connection *connection);
bool lazy_pq_is_connected(const lazy_pq_connection *connection);
/// Whether no transaction is open, and none has failed.
bool lazy_pq_is_idle(const lazy_pq_connection *connection);
int lazy_pq_descriptor(const lazy_pq_connection *connection);
/// The last failure of the connection. A NULL connection has one too.
const char *lazy_pq_message(const lazy_pq_connection *connection);
/// Notices of the server are not printed from now on.
void lazy_pq_ignore_notices(lazy_pq_connection *connection);

/// PQexec. Returns NULL when nothing was sent.
lazy_pq_result *lazy_pq_execute(lazy_pq_connection *connection, const char *statements);

// Pipelines. Each function returns whether it succeeded.
bool lazy_pq_begin_pipeline(lazy_pq_connection *connection);
bool lazy_pq_end_pipeline(lazy_pq_connection *connection);
bool lazy_pq_synchronize(lazy_pq_connection *connection);
bool lazy_pq_send_prepare(lazy_pq_connection *connection, const char *name, const char *statement);
/// Sends parameters in the binary format, and requests the rows in this format.
bool lazy_pq_send(
    lazy_pq_connection *connection, const char *name, int count, const char *const *values, const int *lengths,
    const int *formats);
/// PQgetResult. Returns NULL at the end of a statement.
lazy_pq_result *lazy_pq_next(lazy_pq_connection *connection);

/// Reads what has arrived. Returns whether it succeeded.
bool lazy_pq_consume(lazy_pq_connection *connection);
/// PQnotifies. Returns NULL when none has arrived. To be freed.
lazy_pq_notification *lazy_pq_next_notification(lazy_pq_connection *connection);
const char *lazy_pq_notification_content(const lazy_pq_notification *notification);
void lazy_pq_notification_free(lazy_pq_notification *notification);

/// Values of `lazy_pq_status`: PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_PIPELINE_SYNC.
static const int32_t lazy_pq_command_ok = 1;
static const int32_t lazy_pq_tuples_ok = 2;
static const int32_t lazy_pq_pipeline_sync = 10;

// Results. A NULL result is a failure without rows.
void lazy_pq_clear(lazy_pq_result *result);
int32_t lazy_pq_status(const lazy_pq_result *result);
/// `field` is a letter of PG_DIAG_…, such as 'C' for the SQLSTATE. Returns NULL when the error has no such field.
const char *lazy_pq_error_field(const lazy_pq_result *result, int field);
const char *lazy_pq_error_message(const lazy_pq_result *result);
/// The number of rows.
int lazy_pq_count(const lazy_pq_result *result);
/// PQcmdTuples: the number of changed rows, as a text.
const char *lazy_pq_changed(lazy_pq_result *result);
const char *lazy_pq_value(const lazy_pq_result *result, int row, int column);
int lazy_pq_length(const lazy_pq_result *result, int row, int column);
bool lazy_pq_is_null(const lazy_pq_result *result, int row, int column);
