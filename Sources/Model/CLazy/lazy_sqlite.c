// SPDX-License-Identifier: Apache-2.0

#include "lazy_sqlite.h"

#include "lazy.h"

#include <pthread.h>

// The signatures of sqlite3.h.
static struct {
    int (*open)(const char *path, lazy_sqlite **connection, int flags, const char *vfs);
    int (*close)(lazy_sqlite *connection);
    int (*busy_timeout)(lazy_sqlite *connection, int milliseconds);
    const char *(*message)(lazy_sqlite *connection);
    int (*execute)(lazy_sqlite *connection, const char *text, void *function, void *context, char **message);
    int (*prepare)(lazy_sqlite *connection, const char *text, int count, lazy_sqlite_statement **statement,
                   const char **tail);
    int (*bind_text)(lazy_sqlite_statement *statement, int index, const char *text, int count, void *free);
    int (*bind_blob)(lazy_sqlite_statement *statement, int index, const void *bytes, int count, void *free);
    int (*bind_int64)(lazy_sqlite_statement *statement, int index, int64_t number);
    int (*step)(lazy_sqlite_statement *statement);
    const void *(*column_blob)(lazy_sqlite_statement *statement, int index);
    int (*column_bytes)(lazy_sqlite_statement *statement, int index);
    int64_t (*column_int64)(lazy_sqlite_statement *statement, int index);
    int (*reset)(lazy_sqlite_statement *statement);
    int (*finalize)(lazy_sqlite_statement *statement);
} library;

// SQLITE_OPEN_READWRITE, SQLITE_OPEN_CREATE and SQLITE_OPEN_NOMUTEX
enum { open_flags = 0x2 | 0x4 | 0x8000 };
// SQLITE_TRANSIENT
#define transient ((void *)-1)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static lazy_problem problem;

static const struct lazy_symbol symbols[] = {
    {"sqlite3_open_v2", &library.open},
    {"sqlite3_close_v2", &library.close},
    {"sqlite3_busy_timeout", &library.busy_timeout},
    {"sqlite3_errmsg", &library.message},
    {"sqlite3_exec", &library.execute},
    {"sqlite3_prepare_v2", &library.prepare},
    {"sqlite3_bind_text", &library.bind_text},
    {"sqlite3_bind_blob", &library.bind_blob},
    {"sqlite3_bind_int64", &library.bind_int64},
    {"sqlite3_step", &library.step},
    {"sqlite3_column_blob", &library.column_blob},
    {"sqlite3_column_bytes", &library.column_bytes},
    {"sqlite3_column_int64", &library.column_int64},
    {"sqlite3_reset", &library.reset},
    {"sqlite3_finalize", &library.finalize},
};

static void load(void) { lazy_open("libsqlite3.so.0", LAZY_LIST(symbols), problem); }

const char *lazy_sqlite_load(void) {
    pthread_once(&once, load);
    return *problem ? problem : NULL;
}

int lazy_sqlite_open(const char *path, int milliseconds, lazy_sqlite **connection) {
    int code = library.open(path, connection, open_flags, NULL);
    return code ? code : library.busy_timeout(*connection, milliseconds);
}

void lazy_sqlite_close(lazy_sqlite *connection) { library.close(connection); }

const char *lazy_sqlite_message(lazy_sqlite *connection) { return library.message(connection); }

int lazy_sqlite_execute(lazy_sqlite *connection, const char *statements) {
    return library.execute(connection, statements, NULL, NULL, NULL);
}

int lazy_sqlite_prepare(lazy_sqlite *connection, const char *text, lazy_sqlite_statement **statement) {
    return library.prepare(connection, text, -1, statement, NULL);
}

int lazy_sqlite_bind_text(lazy_sqlite_statement *statement, int index, const char *text) {
    return library.bind_text(statement, index, text, -1, transient);
}

int lazy_sqlite_bind_bytes(lazy_sqlite_statement *statement, int index, const void *bytes, int count) {
    return library.bind_blob(statement, index, bytes, count, transient);
}

int lazy_sqlite_bind_number(lazy_sqlite_statement *statement, int index, int64_t number) {
    return library.bind_int64(statement, index, number);
}

int lazy_sqlite_step(lazy_sqlite_statement *statement) { return library.step(statement); }

const void *lazy_sqlite_column(lazy_sqlite_statement *statement, int index, int *count) {
    const void *bytes = library.column_blob(statement, index);
    *count = library.column_bytes(statement, index);
    return bytes;
}

int64_t lazy_sqlite_column_number(lazy_sqlite_statement *statement, int index) {
    return library.column_int64(statement, index);
}

void lazy_sqlite_reset(lazy_sqlite_statement *statement) { library.reset(statement); }

void lazy_sqlite_finalize(lazy_sqlite_statement *statement) { library.finalize(statement); }
