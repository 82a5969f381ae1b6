// SPDX-License-Identifier: Apache-2.0

#include "CLazyPostgres.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#if __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>
#else
#include <libpq-fe.h>
#endif

// Result, name, parameters, arguments.
#define FUNCTIONS(F) \
    F(PGconn *, PQconnectdbParams, (const char *const *k, const char *const *v, int e), (k, v, e)) \
    F(ConnStatusType, PQstatus, (const PGconn *c), (c)) \
    F(char *, PQerrorMessage, (const PGconn *c), (c)) \
    F(PQnoticeProcessor, PQsetNoticeProcessor, (PGconn *c, PQnoticeProcessor p, void *a), (c, p, a)) \
    F(PQconninfoOption *, PQconninfoParse, (const char *i, char **m), (i, m)) \
    F(int, PQsocket, (const PGconn *c), (c)) \
    F(PGTransactionStatusType, PQtransactionStatus, (const PGconn *c), (c)) \
    F(PGresult *, PQexec, (PGconn *c, const char *q), (c, q)) \
    F(int, PQenterPipelineMode, (PGconn *c), (c)) \
    F(int, PQexitPipelineMode, (PGconn *c), (c)) \
    F(int, PQpipelineSync, (PGconn *c), (c)) \
    F(int, PQsendPrepare, (PGconn *c, const char *s, const char *q, int n, const Oid *t), (c, s, q, n, t)) \
    F(int, PQsendQueryPrepared, \
      (PGconn *c, const char *s, int n, const char *const *v, const int *l, const int *f, int r), (c, s, n, v, l, f, r)) \
    F(PGresult *, PQgetResult, (PGconn *c), (c)) \
    F(int, PQconsumeInput, (PGconn *c), (c)) \
    F(PGnotify *, PQnotifies, (PGconn *c), (c)) \
    F(ExecStatusType, PQresultStatus, (const PGresult *r), (r)) \
    F(char *, PQresultErrorField, (const PGresult *r, int f), (r, f)) \
    F(char *, PQresultErrorMessage, (const PGresult *r), (r)) \
    F(int, PQntuples, (const PGresult *r), (r)) \
    F(char *, PQcmdTuples, (PGresult *r), (r)) \
    F(char *, PQgetvalue, (const PGresult *r, int t, int f), (r, t, f)) \
    F(int, PQgetlength, (const PGresult *r, int t, int f), (r, t, f)) \
    F(int, PQgetisnull, (const PGresult *r, int t, int f), (r, t, f))

// Those without a result.
#define PROCEDURES(F) \
    F(PQfinish, (PGconn *c), (c)) \
    F(PQclear, (PGresult *r), (r)) \
    F(PQconninfoFree, (PQconninfoOption *o), (o)) \
    F(PQfreemem, (void *p), (p))

#define POINTER(result, name, parameters, arguments) __typeof__(&name) name;
#define PROCEDURE_POINTER(name, parameters, arguments) __typeof__(&name) name;
static struct {
    FUNCTIONS(POINTER)
    PROCEDURES(PROCEDURE_POINTER)
} loaded;

#define CALL(result, name, parameters, arguments) \
    __attribute__((visibility("hidden"))) result name parameters { return loaded.name arguments; }
#define PROCEDURE_CALL(name, parameters, arguments) \
    __attribute__((visibility("hidden"))) void name parameters { loaded.name arguments; }
FUNCTIONS(CALL)
PROCEDURES(PROCEDURE_CALL)

static char failure[256];

static void load(void) {
    void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(failure, sizeof failure, "libpq cannot be loaded; install the package libpq5: %s", dlerror());
        return;
    }
#define FIND(result, name, parameters, arguments) \
    if (!(loaded.name = (__typeof__(&name))dlsym(library, #name))) \
        snprintf(failure, sizeof failure, "libpq is older than version 14: it has no %s", #name);
#define FIND_PROCEDURE(name, parameters, arguments) FIND(void, name, parameters, arguments)
    FUNCTIONS(FIND)
    PROCEDURES(FIND_PROCEDURE)
}

const char *lazy_postgres_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return failure[0] ? failure : NULL;
}
