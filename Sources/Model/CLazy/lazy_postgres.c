// SPDX-License-Identifier: Apache-2.0

#include "lazy_postgres.h"

#include "lazy.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

// PGnotify
struct lazy_pq_notification {
    char *channel;
    int process;
    char *content;
    void *next;
};

enum { connection_ok = 0, transaction_idle = 0 };

// Where the header is installed, the compiler checks the numbers.
#if __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>
#elif __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#endif
#ifdef LIBPQ_FE_H
_Static_assert((int)connection_ok == (int)CONNECTION_OK, "CONNECTION_OK");
_Static_assert((int)transaction_idle == (int)PQTRANS_IDLE, "PQTRANS_IDLE");
_Static_assert((int)PGRES_COMMAND_OK == 1, "lazy_pq_command_ok");
_Static_assert((int)PGRES_TUPLES_OK == 2, "lazy_pq_tuples_ok");
#ifdef LIBPQ_HAS_PIPELINING
_Static_assert((int)PGRES_PIPELINE_SYNC == 10, "lazy_pq_pipeline_sync");
#endif
_Static_assert(offsetof(struct lazy_pq_notification, content) == offsetof(PGnotify, extra), "PGnotify");
#endif

// The signatures of libpq-fe.h, with enumerations as int.
static struct {
    void *(*parse)(const char *uri, char **message);
    void (*options_free)(void *options);
    void (*free)(void *memory);
    lazy_pq_connection *(*connect)(const char *const *keys, const char *const *values, int expands);
    void (*finish)(lazy_pq_connection *connection);
    int (*connection_status)(const lazy_pq_connection *connection);
    int (*transaction_status)(const lazy_pq_connection *connection);
    int (*descriptor)(const lazy_pq_connection *connection);
    char *(*message)(const lazy_pq_connection *connection);
    void *(*set_notice_processor)(
        lazy_pq_connection *connection, void (*process)(void *context, const char *text), void *context);
    lazy_pq_result *(*execute)(lazy_pq_connection *connection, const char *statements);
    int (*begin_pipeline)(lazy_pq_connection *connection);
    int (*end_pipeline)(lazy_pq_connection *connection);
    int (*synchronize)(lazy_pq_connection *connection);
    int (*send_prepare)(
        lazy_pq_connection *connection, const char *name, const char *statement, int count, const unsigned *types);
    int (*send)(
        lazy_pq_connection *connection, const char *name, int count, const char *const *values, const int *lengths,
        const int *formats, int result_format);
    lazy_pq_result *(*next)(lazy_pq_connection *connection);
    int (*consume)(lazy_pq_connection *connection);
    lazy_pq_notification *(*notifies)(lazy_pq_connection *connection);
    void (*clear)(lazy_pq_result *result);
    int (*status)(const lazy_pq_result *result);
    char *(*error_field)(const lazy_pq_result *result, int field);
    char *(*error_message)(const lazy_pq_result *result);
    int (*count)(const lazy_pq_result *result);
    char *(*changed)(lazy_pq_result *result);
    char *(*value)(const lazy_pq_result *result, int row, int column);
    int (*length)(const lazy_pq_result *result, int row, int column);
    int (*is_null)(const lazy_pq_result *result, int row, int column);
} library;

static const struct lazy_symbol symbols[] = {
    {"PQconninfoParse", &library.parse},
    {"PQconninfoFree", &library.options_free},
    {"PQfreemem", &library.free},
    {"PQconnectdbParams", &library.connect},
    {"PQfinish", &library.finish},
    {"PQstatus", &library.connection_status},
    {"PQtransactionStatus", &library.transaction_status},
    {"PQsocket", &library.descriptor},
    {"PQerrorMessage", &library.message},
    {"PQsetNoticeProcessor", &library.set_notice_processor},
    {"PQexec", &library.execute},
    {"PQenterPipelineMode", &library.begin_pipeline},
    {"PQexitPipelineMode", &library.end_pipeline},
    {"PQpipelineSync", &library.synchronize},
    {"PQsendPrepare", &library.send_prepare},
    {"PQsendQueryPrepared", &library.send},
    {"PQgetResult", &library.next},
    {"PQconsumeInput", &library.consume},
    {"PQnotifies", &library.notifies},
    {"PQclear", &library.clear},
    {"PQresultStatus", &library.status},
    {"PQresultErrorField", &library.error_field},
    {"PQresultErrorMessage", &library.error_message},
    {"PQntuples", &library.count},
    {"PQcmdTuples", &library.changed},
    {"PQgetvalue", &library.value},
    {"PQgetlength", &library.length},
    {"PQgetisnull", &library.is_null},
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char problem[sizeof(lazy_problem) + 128];

static void load(void) {
    lazy_problem reason = "";
    if (lazy_open("libpq.so.5", LAZY_LIST(symbols), reason)) return;
    const char *advice = "libpq of version 14 or later cannot be loaded; install the package libpq5";
    snprintf(problem, sizeof problem, "%s: %s", advice, reason);
}

const char *lazy_postgres_load(void) {
    pthread_once(&once, load);
    return problem[0] ? problem : NULL;
}

bool lazy_pq_accepts(const char *uri, char **message) {
    void *options = library.parse(uri, message);
    if (!options) return false;
    library.options_free(options);
    return true;
}

void lazy_pq_free(char *message) { library.free(message); }

lazy_pq_connection *lazy_pq_connect(const char *const *keys, const char *const *values) {
    return library.connect(keys, values, 1);
}

void lazy_pq_finish(lazy_pq_connection *connection) { library.finish(connection); }

bool lazy_pq_is_connected(const lazy_pq_connection *connection) {
    return library.connection_status(connection) == connection_ok;
}

bool lazy_pq_is_idle(const lazy_pq_connection *connection) {
    return library.transaction_status(connection) == transaction_idle;
}

int lazy_pq_descriptor(const lazy_pq_connection *connection) { return library.descriptor(connection); }

const char *lazy_pq_message(const lazy_pq_connection *connection) { return library.message(connection); }

static void ignore(void *context, const char *text) {
    (void)context;
    (void)text;
}

void lazy_pq_ignore_notices(lazy_pq_connection *connection) { library.set_notice_processor(connection, ignore, NULL); }

lazy_pq_result *lazy_pq_execute(lazy_pq_connection *connection, const char *statements) {
    return library.execute(connection, statements);
}

bool lazy_pq_begin_pipeline(lazy_pq_connection *connection) { return library.begin_pipeline(connection) == 1; }

bool lazy_pq_end_pipeline(lazy_pq_connection *connection) { return library.end_pipeline(connection) == 1; }

bool lazy_pq_synchronize(lazy_pq_connection *connection) { return library.synchronize(connection) == 1; }

bool lazy_pq_send_prepare(lazy_pq_connection *connection, const char *name, const char *statement) {
    return library.send_prepare(connection, name, statement, 0, NULL) == 1;
}

bool lazy_pq_send(
    lazy_pq_connection *connection, const char *name, int count, const char *const *values, const int *lengths,
    const int *formats) {
    return library.send(connection, name, count, values, lengths, formats, 1) == 1;
}

lazy_pq_result *lazy_pq_next(lazy_pq_connection *connection) { return library.next(connection); }

bool lazy_pq_consume(lazy_pq_connection *connection) { return library.consume(connection) == 1; }

lazy_pq_notification *lazy_pq_next_notification(lazy_pq_connection *connection) { return library.notifies(connection); }

const char *lazy_pq_notification_content(const lazy_pq_notification *notification) { return notification->content; }

void lazy_pq_notification_free(lazy_pq_notification *notification) { library.free(notification); }

void lazy_pq_clear(lazy_pq_result *result) { library.clear(result); }

int32_t lazy_pq_status(const lazy_pq_result *result) { return library.status(result); }

const char *lazy_pq_error_field(const lazy_pq_result *result, int field) { return library.error_field(result, field); }

const char *lazy_pq_error_message(const lazy_pq_result *result) { return library.error_message(result); }

int lazy_pq_count(const lazy_pq_result *result) { return library.count(result); }

const char *lazy_pq_changed(lazy_pq_result *result) { return library.changed(result); }

const char *lazy_pq_value(const lazy_pq_result *result, int row, int column) {
    return library.value(result, row, column);
}

int lazy_pq_length(const lazy_pq_result *result, int row, int column) { return library.length(result, row, column); }

bool lazy_pq_is_null(const lazy_pq_result *result, int row, int column) {
    return library.is_null(result, row, column) == 1;
}
