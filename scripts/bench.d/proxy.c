// SPDX-License-Identifier: Apache-2.0

// The reference for message-bus: a ROUTER socket with CURVE that only forwards each envelope to the address in its
// header, without journal, table, tap or copy of a frame.
//
// Prints its endpoint and its key in one line, and exits at the end of its standard input.

#include <unistd.h>

#include "wire.h"

enum { most_addresses = 8, most_in_a_row = 256, id_length = 5 };

static struct {
  char text[256];
  size_t length;
  uint8_t id[id_length];
} known[most_addresses];
static size_t known_count;

static const uint8_t *id_of(const uint8_t *address, size_t length) {
  for (size_t index = 0; index < known_count; index++)
    if (known[index].length == length && memcmp(known[index].text, address, length) == 0) return known[index].id;
  return NULL;
}

static void welcome(void *socket, const uint8_t *frame, const uint8_t *id) {
  need(known_count < most_addresses && source_length(frame) < sizeof known[0].text, "too many addresses");
  known[known_count].length = source_length(frame);
  memcpy(known[known_count].text, frame + header_length, source_length(frame));
  memcpy(known[known_count++].id, id, id_length);
  uint8_t answer[header_length] = {1};
  strcpy((char *)answer + kind_offset, "peer.hello/ok");
  zmq_send(socket, id, id_length, ZMQ_SNDMORE);
  zmq_send(socket, answer, sizeof answer, 0);
}

// Returns 0 when there is no message.
static int forward(void *socket) {
  uint8_t id[id_length];
  if (zmq_recv(socket, id, sizeof id, ZMQ_DONTWAIT) != id_length) return 0;
  zmq_msg_t message;
  zmq_msg_init(&message);
  need(zmq_msg_recv(&message, socket, ZMQ_DONTWAIT) >= 0, "a frame");
  const uint8_t *frame = zmq_msg_data(&message);
  if (is_envelope(frame, zmq_msg_size(&message))) {
    const uint8_t *to = id_of(frame + header_length + source_length(frame), destination_length(frame));
    if (to != NULL && zmq_send(socket, to, id_length, ZMQ_SNDMORE | ZMQ_DONTWAIT) == id_length &&
        zmq_msg_send(&message, socket, ZMQ_DONTWAIT) >= 0)
      return 1;
    if (to == NULL && is_kind(frame, "peer.hello")) welcome(socket, frame, id);
  }
  zmq_msg_close(&message);
  return 1;
}

int main(void) {
  char public_key[41], secret_key[41], endpoint[256];
  size_t length = sizeof endpoint;
  const int server = 1;
  need(zmq_curve_keypair(public_key, secret_key) == 0, "zmq_curve_keypair");
  void *context = zmq_ctx_new();
  void *socket = bus_socket(context, ZMQ_ROUTER);
  zmq_setsockopt(socket, ZMQ_CURVE_SERVER, &server, sizeof server);
  zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, secret_key, sizeof secret_key);
  need(zmq_bind(socket, "tcp://127.0.0.1:*") == 0, "zmq_bind");
  zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, endpoint, &length);
  printf("%s %s\n", endpoint, public_key);
  fflush(stdout);
  zmq_pollitem_t items[] = {{socket, 0, ZMQ_POLLIN, 0}, {NULL, STDIN_FILENO, ZMQ_POLLIN, 0}};
  while (zmq_poll(items, 2, -1) >= 0 && items[1].revents == 0)
    for (int count = 0; count < most_in_a_row && forward(socket); count++) continue;
  zmq_close(socket);
  zmq_ctx_term(context);
  return 0;
}
