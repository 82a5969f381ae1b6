#pragma once

#include <stddef.h>
#include <stdint.h>

// libcurl, loaded when it is first used: linked, it would double what an extension takes to start. No header of libcurl is
// needed: its numbers and signatures are those of its soname, libcurl.so.4, and have been since 2006.

/// Loads libcurl, once. NULL when it is there, else why not. Any thread; before all others.
const char *lazy_curl_load(void);

/// `data`, `size` times `count` bytes of it; what is not taken in full ends the transfer. The answer of `lazy_curl_read`
/// is how many bytes were put there.
typedef size_t (*lazy_curl_data)(char *data, size_t size, size_t count, void *context);
/// The body begins anew at `offset` from its start. 0 when it can.
typedef int (*lazy_curl_seek)(void *context, int64_t offset, int origin);

/// curl_easy_setopt's options, by their numbers in curl.h.
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
    lazy_curl_cookie_file = 10031,
    lazy_curl_cookie_list = 10135,
    lazy_curl_custom_request = 10036,
    lazy_curl_http_header = 10023,
    lazy_curl_password = 10174,
    lazy_curl_protocols = 181,
    lazy_curl_share = 10100,
    lazy_curl_url = 10002,
    lazy_curl_user = 10173,
    lazy_curl_body_size = 30115,
};

/// curl_easy_setopt's values of some of them.
enum {
    lazy_curl_auth_basic = 1,
    lazy_curl_auth_digest = 2,
    lazy_curl_http_and_https = 3,
    /// What a read function answers to end the transfer.
    lazy_curl_read_abort = 0x10000000,
};

/// A request at a time, and the connections that it leaves open.
typedef struct lazy_curl lazy_curl;

/// NULL when there is no memory.
lazy_curl *lazy_curl_make(void);
void lazy_curl_free(lazy_curl *curl);

/// Takes back all options. Connections, and the cookies of a share, stay.
void lazy_curl_reset(lazy_curl *curl);
/// Each 0, or a CURLcode. Texts are copied; a list and a share have to live on.
int lazy_curl_set_number(lazy_curl *curl, enum lazy_curl_option option, long value);
int lazy_curl_set_size(lazy_curl *curl, enum lazy_curl_option option, int64_t value);
int lazy_curl_set_text(lazy_curl *curl, enum lazy_curl_option option, const char *value);
int lazy_curl_set_object(lazy_curl *curl, enum lazy_curl_option option, const void *value);
void lazy_curl_set_functions(
    lazy_curl *curl, void *context, lazy_curl_data header, lazy_curl_data write, lazy_curl_data read,
    lazy_curl_seek seek);

/// The request goes out with the next steps, all on this thread, which is sent no SIGPIPE from now on. 0, or a CURLMcode.
int lazy_curl_begin(lazy_curl *curl);
/// Does what can be done now, on this thread. 1 when the request has ended, and `code` is its CURLcode then; 0 when it
/// goes on; below 0 when it cannot.
int lazy_curl_step(lazy_curl *curl, int *code);
/// Waits until there is something to do, so many milliseconds at most, or until `lazy_curl_wake`.
void lazy_curl_wait(lazy_curl *curl, int milliseconds);
/// Ends a wait, or the next one. Any thread.
void lazy_curl_wake(lazy_curl *curl);
/// After the end of a request, or instead of it.
void lazy_curl_end(lazy_curl *curl);

/// What a CURLcode means, in English. After libcurl was loaded.
const char *lazy_curl_message(int code);

/// curl_slist_append. NULL when there is no memory.
void *lazy_curl_list_append(void *list, const char *line);
void lazy_curl_list_free(void *list);

/// Cookies that several requests share, on any threads. NULL when there is no memory.
typedef struct lazy_curl_cookies lazy_curl_cookies;
lazy_curl_cookies *lazy_curl_cookies_make(void);
/// After the last request that has it.
void lazy_curl_cookies_free(lazy_curl_cookies *cookies);
/// 0, or a CURLcode.
int lazy_curl_set_cookies(lazy_curl *curl, lazy_curl_cookies *cookies);
