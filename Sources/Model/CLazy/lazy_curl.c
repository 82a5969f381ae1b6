// SPDX-License-Identifier: Apache-2.0

#include "lazy_curl.h"

#include "lazy.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

// The signatures of curl.h and multi.h, with handles as void *.
static struct {
    int (*global_init)(long flags);
    void *(*easy_init)(void);
    void (*easy_cleanup)(void *easy);
    void (*easy_reset)(void *easy);
    int (*easy_setopt)(void *easy, int option, ...);
    const char *(*easy_strerror)(int code);
    void *(*multi_init)(void);
    int (*multi_cleanup)(void *multi);
    int (*multi_add_handle)(void *multi, void *easy);
    int (*multi_remove_handle)(void *multi, void *easy);
    int (*multi_perform)(void *multi, int *running);
    int (*multi_poll)(void *multi, void *extra, unsigned int count, int milliseconds, int *ready);
    int (*multi_wakeup)(void *multi);
    struct lazy_curl_end *(*multi_info_read)(void *multi, int *left);
    void *(*slist_append)(void *list, const char *line);
    void (*slist_free_all)(void *list);
    struct lazy_curl_version *(*version_info)(int age);
} library;

// The first members of curl_version_info_data.
struct lazy_curl_version {
    int age;
    const char *version;
    unsigned number;
    const char *host;
    int features;
};

// CURLVERSION_FIRST and CURL_VERSION_BROTLI
enum { version_first = 0, feature_brotli = 1 << 23 };

// CURLMsg
struct lazy_curl_end {
    int message;
    void *easy;
    union {
        void *whatever;
        int code;
    } data;
};

enum { message_done = 1, global_all = 3 };
enum { option_write = 20011, option_write_context = 10001, option_read = 20012, option_read_context = 10009 };
enum { option_header = 20079, option_header_context = 10029, option_seek = 20167, option_seek_context = 10168 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static lazy_problem problem;

static const struct lazy_symbol symbols[] = {
    {"curl_global_init", &library.global_init},
    {"curl_easy_init", &library.easy_init},
    {"curl_easy_cleanup", &library.easy_cleanup},
    {"curl_easy_reset", &library.easy_reset},
    {"curl_easy_setopt", &library.easy_setopt},
    {"curl_easy_strerror", &library.easy_strerror},
    {"curl_multi_init", &library.multi_init},
    {"curl_multi_cleanup", &library.multi_cleanup},
    {"curl_multi_add_handle", &library.multi_add_handle},
    {"curl_multi_remove_handle", &library.multi_remove_handle},
    {"curl_multi_perform", &library.multi_perform},
    {"curl_multi_poll", &library.multi_poll},
    {"curl_multi_wakeup", &library.multi_wakeup},
    {"curl_multi_info_read", &library.multi_info_read},
    {"curl_slist_append", &library.slist_append},
    {"curl_slist_free_all", &library.slist_free_all},
    {"curl_version_info", &library.version_info},
};

static void load(void) {
    if (!lazy_open("libcurl.so.4", LAZY_LIST(symbols), problem)) return;
    if (library.global_init(global_all) != 0) lazy_fail(problem, "curl_global_init failed");
}

const char *lazy_curl_load(void) {
    pthread_once(&once, load);
    return problem[0] ? problem : NULL;
}

struct lazy_curl {
    void *easy;
    void *multi;
};

lazy_curl *lazy_curl_make(void) {
    lazy_curl *curl = calloc(1, sizeof *curl);
    if (!curl) return NULL;
    curl->easy = library.easy_init();
    curl->multi = library.multi_init();
    if (curl->easy && curl->multi) return curl;
    lazy_curl_free(curl);
    return NULL;
}

void lazy_curl_free(lazy_curl *curl) {
    if (curl->easy) library.easy_cleanup(curl->easy);
    if (curl->multi) library.multi_cleanup(curl->multi);
    free(curl);
}

void lazy_curl_reset(lazy_curl *curl) { library.easy_reset(curl->easy); }

int lazy_curl_set_number(lazy_curl *curl, enum lazy_curl_option option, long value) {
    return library.easy_setopt(curl->easy, option, value);
}

int lazy_curl_set_size(lazy_curl *curl, enum lazy_curl_option option, int64_t value) {
    return library.easy_setopt(curl->easy, option, value);
}

int lazy_curl_set_text(lazy_curl *curl, enum lazy_curl_option option, const char *value) {
    return library.easy_setopt(curl->easy, option, value);
}

int lazy_curl_set_object(lazy_curl *curl, enum lazy_curl_option option, const void *value) {
    return library.easy_setopt(curl->easy, option, value);
}

void lazy_curl_set_functions(
    lazy_curl *curl, void *context, lazy_curl_data header, lazy_curl_data write, lazy_curl_data read,
    lazy_curl_seek seek) {
    library.easy_setopt(curl->easy, option_header, header);
    library.easy_setopt(curl->easy, option_header_context, context);
    library.easy_setopt(curl->easy, option_write, write);
    library.easy_setopt(curl->easy, option_write_context, context);
    library.easy_setopt(curl->easy, option_read, read);
    library.easy_setopt(curl->easy, option_read_context, context);
    library.easy_setopt(curl->easy, option_seek, seek);
    library.easy_setopt(curl->easy, option_seek_context, context);
}

int lazy_curl_begin(lazy_curl *curl) {
    // A write to a TLS connection that the server has closed must not end the process.
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, NULL);
    return library.multi_add_handle(curl->multi, curl->easy);
}

int lazy_curl_step(lazy_curl *curl, int *code) {
    int running = 0;
    int left = 0;
    if (library.multi_perform(curl->multi, &running) != 0) return -1;
    for (struct lazy_curl_end *end; (end = library.multi_info_read(curl->multi, &left));) {
        if (end->message != message_done) continue;
        *code = end->data.code;
        return 1;
    }
    return running ? 0 : -1;
}

void lazy_curl_wait(lazy_curl *curl, int milliseconds) {
    library.multi_poll(curl->multi, NULL, 0, milliseconds, NULL);
}

void lazy_curl_wake(lazy_curl *curl) { library.multi_wakeup(curl->multi); }

void lazy_curl_end(lazy_curl *curl) { library.multi_remove_handle(curl->multi, curl->easy); }

const char *lazy_curl_message(int code) { return library.easy_strerror(code); }

int lazy_curl_reads_brotli(void) { return (library.version_info(version_first)->features & feature_brotli) != 0; }

void *lazy_curl_list_append(void *list, const char *line) { return library.slist_append(list, line); }

void lazy_curl_list_free(void *list) { library.slist_free_all(list); }
