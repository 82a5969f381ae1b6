// SPDX-License-Identifier: Apache-2.0

// Many peers on one bus: a host requests `timeline.request` of each extension in turn. The agent registers the extensions.
//
// The first line of standard input has the bus, the keys, and the number of extensions, which are called PREFIX0, PREFIX1 …:
//   ENDPOINT SERVERKEY  ADDRESS PUBLIC SECRET (of the host)  ADDRESS PUBLIC SECRET (of the agent)  PREFIX COUNT
// The output is `ready` when all are connected. Each further line is one run, `BODY WINDOW COUNT`: COUNT requests with
// bodies of BODY bytes, WINDOW of them concurrently; no extension gets a second one before it has replied to the first when
// WINDOW is at most their number. The output is `SECONDS`: the whole run in seconds.

#include <sys/resource.h>

#include "peer.h"

enum { most_extensions = 480 };

static struct peer host, agent, extensions[most_extensions];
static size_t extension_count;

// Registers a key for an extension as the agent, as before a spawn.
static void register_key(const char *address, const char *public_key) {
  char body[512];
  snprintf(body, sizeof body, "{\"address\":\"%s\",\"publicKey\":\"%s\"}", address, public_key);
  compose(&agent, "instance.register", "message-bus", body, strlen(body));
  request(&agent, "instance.register/ok");
}

static void connect_extensions(void *context, const char *endpoint, const char *server, const char *prefix) {
  for (size_t index = 0; index < extension_count; index++) {
    struct peer *peer = &extensions[index];
    char public_key[41], secret_key[41];
    snprintf(peer->address, sizeof peer->address, "%s%zu", prefix, index);
    need(zmq_curve_keypair(public_key, secret_key) == 0, "a key");
    register_key(peer->address, public_key);
    connect_peer(context, peer, endpoint, server, public_key, secret_key);
    say_hello(peer, (unsigned)index + 3);
  }
}

// Receives one envelope. Returns whether it is of this type.
static int receive(struct peer *peer, const char *kind, uint8_t *frame, size_t size) {
  need(zmq_recv(peer->socket, frame, size, 0) >= header_length, "no envelope");
  return is_kind(frame, kind);
}

// Lets an extension reply to one request. Returns 0 when it received something else.
static size_t answer(struct peer *extension) {
  uint8_t frame[sizeof host.frame];
  if (!receive(extension, "timeline.request", frame, sizeof frame)) return 0;
  memcpy(extension->frame + cause_offset, frame + id_offset, 16);
  send_numbered(extension, next_number++);
  return 1;
}

static void run(size_t body, size_t window, size_t count) {
  static char text[most_body];
  memset(text, ' ', body);
  memcpy(text, "{}", 2);
  for (size_t index = 0; index < extension_count; index++)
    compose(&extensions[index], "timeline.request/ok", host.address, text, body);
  size_t asked = 0, answered = 0, done = 0;
  const double begin = now();
  while (done < count) {
    for (; asked < count && asked - done < window; asked++) {
      compose(&host, "timeline.request", extensions[asked % extension_count].address, text, body);
      send_numbered(&host, next_number++);
    }
    // The requests arrive in order, so only the next extension is looked at.
    struct peer *next = &extensions[answered % extension_count];
    zmq_pollitem_t items[] = {{host.socket, 0, ZMQ_POLLIN, 0}, {next->socket, 0, ZMQ_POLLIN, 0}};
    need(zmq_poll(items, answered < asked ? 2 : 1, patience_in_ms) > 0, "an envelope was not received");
    uint8_t frame[sizeof host.frame];
    if (items[0].revents && receive(&host, "timeline.request/ok", frame, sizeof frame)) done++;
    if (items[1].revents) answered += answer(next);
  }
  printf("%.6f\n", now() - begin);
  fflush(stdout);
}

int main(void) {
  char endpoint[256], server[41], keys[4][41], prefix[128];
  need(scanf("%255s %40s %255s %40s %40s %255s %40s %40s %127s %zu", endpoint, server, host.address, keys[0], keys[1],
             agent.address, keys[2], keys[3], prefix, &extension_count) == 10, "endpoint, addresses and keys on standard input");
  need(extension_count > 0 && extension_count <= most_extensions, "a number of extensions");
  // Each peer has a connection and the descriptor of its mailbox.
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  void *context = zmq_ctx_new();
  connect_peer(context, &host, endpoint, server, keys[0], keys[1]);
  connect_peer(context, &agent, endpoint, server, keys[2], keys[3]);
  say_hello(&agent, 1);
  say_hello(&host, 2);
  connect_extensions(context, endpoint, server, prefix);
  printf("ready\n");
  fflush(stdout);
  size_t body, window, count;
  while (scanf("%zu %zu %zu", &body, &window, &count) == 3) {
    need(body >= 2 && body <= most_body && window > 0 && window <= most_window && count > 0, "a run");
    run(body, window, count);
  }
  for (size_t index = 0; index < extension_count; index++) zmq_close(extensions[index].socket);
  zmq_close(host.socket);
  zmq_close(agent.socket);
  zmq_ctx_term(context);
  return 0;
}
