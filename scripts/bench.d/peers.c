// SPDX-License-Identifier: Apache-2.0

// Two peers on one bus: one sends `process.list` as the host, the other replies as the agent. The same program is used
// for all buses, so that only the bus differs.
//
// The first line of standard input has the bus and the keys:
//   ENDPOINT SERVERKEY  ADDRESS PUBLIC SECRET (of the host)  ADDRESS PUBLIC SECRET (of the agent)
// Each further line is one run, `BODY WINDOW COUNT`: COUNT requests with bodies of BODY bytes, WINDOW of them
// concurrently.
// The output is `SECONDS P50 P99`: the whole run in seconds, and a round trip in microseconds.

#include <inttypes.h>

#include "peer.h"

static struct peer host, agent;

// Replies to one request as the agent. Returns 0 when there is none.
static int answer_one(void) {
  uint8_t frame[sizeof agent.frame];
  if (zmq_recv(agent.socket, frame, sizeof frame, ZMQ_DONTWAIT) < header_length) return 0;
  if (!is_kind(frame, "process.list")) return 1;
  memcpy(agent.frame + cause_offset, frame + id_offset, 16);
  send_numbered(&agent, next_number++);
  return 1;
}

// Receives one reply. Returns 0 when there is none, the number of the request, or 1 for another envelope.
static uint64_t take_one(void) {
  uint8_t frame[sizeof host.frame];
  uint64_t number;
  if (zmq_recv(host.socket, frame, sizeof frame, ZMQ_DONTWAIT) < header_length) return 0;
  if (!is_kind(frame, "process.list/ok")) return 1;
  memcpy(&number, frame + cause_offset, 8);
  return number;
}

static int by_size(const void *left, const void *right) {
  const double difference = *(const double *)left - *(const double *)right;
  return difference < 0 ? -1 : difference > 0;
}

static void run(size_t body, size_t window, size_t count) {
  static char text[most_body];
  memset(text, ' ', body);
  memcpy(text, "{}", 2);
  compose(&host, "process.list", agent.address, text, body);
  compose(&agent, "process.list/ok", host.address, text, body);
  double *sent = calloc(count, sizeof *sent), *took = calloc(count, sizeof *took);
  zmq_pollitem_t items[] = {{host.socket, 0, ZMQ_POLLIN, 0}, {agent.socket, 0, ZMQ_POLLIN, 0}};
  // The replies are numbered too, after the requests.
  const uint64_t first = next_number;
  next_number += count;
  size_t asked = 0, done = 0;
  const double begin = now();
  while (done < count) {
    while (asked < count && asked - done < window) {
      sent[asked] = now();
      send_numbered(&host, first + asked++);
    }
    need(zmq_poll(items, 2, patience_in_ms) > 0, "an envelope was not received");
    if (items[1].revents) while (answer_one()) continue;
    uint64_t number;
    if (items[0].revents) while ((number = take_one())) {
      if (number < first || number >= first + count) continue;
      took[number - first] = now() - sent[number - first];
      done++;
    }
  }
  const double seconds = now() - begin;
  qsort(took, count, sizeof *took, by_size);
  printf("%.6f %.3f %.3f\n", seconds, took[count / 2] * 1e6, took[count * 99 / 100] * 1e6);
  fflush(stdout);
  free(sent);
  free(took);
}

int main(void) {
  char endpoint[256], server[41], keys[4][41];
  need(scanf("%255s %40s %255s %40s %40s %255s %40s %40s", endpoint, server, host.address, keys[0], keys[1], agent.address,
             keys[2], keys[3]) == 8, "endpoint, addresses and keys on standard input");
  void *context = zmq_ctx_new();
  connect_peer(context, &host, endpoint, server, keys[0], keys[1]);
  connect_peer(context, &agent, endpoint, server, keys[2], keys[3]);
  say_hello(&agent, 1);
  say_hello(&host, 2);
  printf("ready\n");
  fflush(stdout);
  size_t body, window, count;
  while (scanf("%zu %zu %zu", &body, &window, &count) == 3) {
    need(body >= 2 && body <= most_body && window > 0 && window <= most_window && count > 0, "a run");
    run(body, window, count);
  }
  zmq_close(host.socket);
  zmq_close(agent.socket);
  zmq_ctx_term(context);
  return 0;
}
