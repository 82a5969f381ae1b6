// SPDX-License-Identifier: Apache-2.0

// The parts of the bus protocol that the programs of scripts/bench use: the layout of wire version 1
// (Sources/Bus/Messages/Wire.swift) and a CURVE socket with the options of the bus.

#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

enum { header_length = 120, kind_offset = 1, kind_length = 31, id_offset = 48, cause_offset = 64 };
enum { source_length_offset = 104, destination_length_offset = 106, body_length_offset = 108 };

static inline uint16_t load16(const uint8_t *bytes) { return (uint16_t)(bytes[0] | bytes[1] << 8); }

static inline uint32_t load32(const uint8_t *bytes) { return load16(bytes) | (uint32_t)load16(bytes + 2) << 16; }

static inline void store16(uint8_t *bytes, uint16_t value) {
  bytes[0] = (uint8_t)value;
  bytes[1] = (uint8_t)(value >> 8);
}

static inline void store32(uint8_t *bytes, uint32_t value) {
  store16(bytes, (uint16_t)value);
  store16(bytes + 2, (uint16_t)(value >> 16));
}

static inline size_t source_length(const uint8_t *frame) { return load16(frame + source_length_offset); }
static inline size_t destination_length(const uint8_t *frame) { return load16(frame + destination_length_offset); }
static inline size_t body_length(const uint8_t *frame) { return load32(frame + body_length_offset); }

// Whether the lengths in the header add up to the length of the frame.
static inline int is_envelope(const uint8_t *frame, size_t count) {
  return count >= header_length && frame[0] == 1 &&
         count == header_length + source_length(frame) + destination_length(frame) + body_length(frame);
}

static inline int is_kind(const uint8_t *frame, const char *kind) {
  return strncmp((const char *)frame + kind_offset, kind, kind_length) == 0;
}

static inline void need(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "bench: %s: %s\n", what, zmq_strerror(zmq_errno()));
  exit(1);
}

static inline void *bus_socket(void *context, int type) {
  void *socket = zmq_socket(context, type);
  need(socket != NULL, "zmq_socket");
  const int mark = type == ZMQ_ROUTER ? 1024 : 4096, linger = 0, mandatory = 1;
  const int64_t largest = 1 << 20;
  zmq_setsockopt(socket, ZMQ_SNDHWM, &mark, sizeof mark);
  zmq_setsockopt(socket, ZMQ_RCVHWM, &(int){4096}, sizeof(int));
  zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof linger);
  zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &largest, sizeof largest);
  if (type == ZMQ_ROUTER) zmq_setsockopt(socket, ZMQ_ROUTER_MANDATORY, &mandatory, sizeof mandatory);
  return socket;
}

static inline void be_client(void *socket, const char *server, const char *public_key, const char *secret_key) {
  need(zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY, server, 41) == 0, "the server's key");
  need(zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, public_key, 41) == 0, "the public key");
  need(zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, secret_key, 41) == 0, "the secret key");
}
