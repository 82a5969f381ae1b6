// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <stddef.h>
#include <stdint.h>

// libcurl, loaded on first use: linking it would double the launch time of an extension. No header of libcurl is
// needed: numbers and signatures belong to its soname, libcurl.so.4, and have not changed since 2006.

/// Loads libcurl, once. Returns NULL on success, otherwise the reason. Any thread. Call before all other functions.
const char *lazy_curl_load(void);

/// `data` has `size` times `count` bytes. A smaller return value ends the transfer. The return value of
/// `lazy_curl_read` is the number of bytes written to `data`.
typedef size_t (*lazy_curl_data)(char *data, size_t size, size_t count, void *context);
/// Restarts the body at `offset` from its start. Returns 0 on success.
typedef int (*lazy_curl_seek)(void *context, int64_t offset, int origin);

/// Options of curl_easy_setopt, with their numbers in curl.h.
enum lazy_curl_option {
    lazy_curl_buffer_size = 98,
    lazy_curl_http_get = 80,
    lazy_curl_http_auth = 107,
    lazy_curl_no_body = 44,
    lazy_curl_no_signal = 99,
    lazy_curl_path_as_is = 234,
    lazy_curl_suppress_connect_headers = 265,
    lazy_curl_upload = 46,
    lazy_curl_verify_host = 81,
    lazy_curl_verify_peer = 64,
    lazy_curl_accept_encoding = 10102,
    lazy_curl_custom_request = 10036,
    lazy_curl_http_header = 10023,
    lazy_curl_password = 10174,
    lazy_curl_protocols = 181,
    lazy_curl_url = 10002,
    lazy_curl_user = 10173,
    lazy_curl_body_size = 30115,
};

/// Values of some of these options.
enum {
    lazy_curl_auth_basic = 1,
    lazy_curl_auth_digest = 2,
    lazy_curl_http_and_https = 3,
    /// Return value of a read function that ends the transfer.
    lazy_curl_read_abort = 0x10000000,
};

/// Performs one request at a time, and keeps its connections open for the next.
typedef struct lazy_curl lazy_curl;

/// Returns NULL when out of memory.
lazy_curl *lazy_curl_make(void);
void lazy_curl_free(lazy_curl *curl);

/// Resets all options. Connections remain.
void lazy_curl_reset(lazy_curl *curl);
/// Each returns 0 or a CURLcode. Texts are copied. A list must remain valid.
int lazy_curl_set_number(lazy_curl *curl, enum lazy_curl_option option, long value);
int lazy_curl_set_size(lazy_curl *curl, enum lazy_curl_option option, int64_t value);
int lazy_curl_set_text(lazy_curl *curl, enum lazy_curl_option option, const char *value);
int lazy_curl_set_object(lazy_curl *curl, enum lazy_curl_option option, const void *value);
void lazy_curl_set_functions(
    lazy_curl *curl, void *context, lazy_curl_data header, lazy_curl_data write, lazy_curl_data read,
    lazy_curl_seek seek);

/// Starts a request. It is sent by the next steps, all on this thread, where SIGPIPE is blocked from now on. Returns 0
/// or a CURLMcode.
int lazy_curl_begin(lazy_curl *curl);
/// Does what can be done without blocking, on this thread. Returns 1 when the request has ended, with its CURLcode in
/// `code`; 0 while it continues; a negative number on failure.
int lazy_curl_step(lazy_curl *curl, int *code);
/// Waits for activity, for at most `milliseconds`, or until `lazy_curl_wake`.
void lazy_curl_wait(lazy_curl *curl, int milliseconds);
/// Ends the current or the next wait. Any thread.
void lazy_curl_wake(lazy_curl *curl);
/// Removes the request, whether it has ended or not.
void lazy_curl_end(lazy_curl *curl);

/// The English description of a CURLcode. Requires that libcurl is loaded.
const char *lazy_curl_message(int code);

/// Whether this libcurl decodes Brotli. Requires that libcurl is loaded.
int lazy_curl_reads_brotli(void);

/// curl_slist_append. Returns NULL when out of memory.
void *lazy_curl_list_append(void *list, const char *line);
void lazy_curl_list_free(void *list);
