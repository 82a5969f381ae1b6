// SPDX-License-Identifier: Apache-2.0

// A peer of the bus in C: it composes and sends envelopes, and says hello.

#pragma once

#include <time.h>
#include <unistd.h>

#include "wire.h"

enum { most_body = 4096, most_window = 512, patience_in_ms = 60000 };

struct peer {
  void *socket;
  char address[256];
  uint8_t frame[header_length + 512 + most_body];
  size_t count;
};

static uint64_t next_number = 1;

static inline double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static inline void compose(struct peer *peer, const char *kind, const char *destination, const char *body, size_t length) {
  uint8_t *frame = peer->frame;
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  const int64_t microseconds = (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
  memset(frame, 0, header_length);
  frame[0] = 1;
  strncpy((char *)frame + kind_offset, kind, kind_length);
  memcpy(frame + 40, &microseconds, 8);
  store16(frame + source_length_offset, (uint16_t)strlen(peer->address));
  store16(frame + destination_length_offset, (uint16_t)strlen(destination));
  store32(frame + body_length_offset, (uint32_t)length);
  uint8_t *end = frame + header_length;
  memcpy(end, peer->address, strlen(peer->address));
  memcpy(end += strlen(peer->address), destination, strlen(destination));
  memcpy(end += strlen(destination), body, length);
  peer->count = (size_t)(end + length - frame);
}

// Sends with a unique id, whose first half is an increasing number.
static inline void send_numbered(struct peer *peer, uint64_t number) {
  const uint64_t half = UINT64_C(0x8000400000000000) ^ (uint64_t)getpid();
  memcpy(peer->frame + id_offset, &number, 8);
  memcpy(peer->frame + id_offset + 8, &half, 8);
  need(zmq_send(peer->socket, peer->frame, peer->count, 0) >= 0, "zmq_send");
}

// Sends the composed request, and waits for its reply.
static inline void request(struct peer *peer, const char *reply) {
  send_numbered(peer, next_number++);
  uint8_t answer[header_length + 1024];
  zmq_pollitem_t item = {peer->socket, 0, ZMQ_POLLIN, 0};
  do {
    need(zmq_poll(&item, 1, patience_in_ms) == 1, reply);
    need(zmq_recv(peer->socket, answer, sizeof answer, 0) >= header_length, "no envelope");
  } while (!is_kind(answer, reply));
}

static inline void say_hello(struct peer *peer, unsigned number) {
  char body[128];
  snprintf(body, sizeof body, "{\"incarnation\":\"%08X-0000-4000-8000-%012X\",\"pid\":%d}", number, (unsigned)getpid(), getpid());
  compose(peer, "peer.hello", "message-bus", body, strlen(body));
  request(peer, "peer.hello/ok");
}

static inline void connect_peer(void *context, struct peer *peer, const char *endpoint, const char *server, const char *public_key, const char *secret_key) {
  peer->socket = bus_socket(context, ZMQ_DEALER);
  be_client(peer->socket, server, public_key, secret_key);
  need(zmq_connect(peer->socket, endpoint) == 0, "zmq_connect");
}
