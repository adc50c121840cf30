// The border between tril and its module tril_fetch, which alone is linked with libcurl and is loaded on
// need: plain C types, one function. What it leaves out: files, digests and what to tell the user, which
// fetch.cc does.
#pragma once
#include <cstddef>
#include <cstdint>

extern "C" {

struct TrilHttpRequest {
  const char* url;
  const char* agent;     // User-Agent
  int64_t from;          // first byte wanted; 0 asks for the whole without a Range
  int max_redirects;     // http and https alone; from https never to http
  double stall_seconds;  // give up where nothing comes for so long
  void* context;         // first argument of the functions below
  /// The final answer's head: status, length of its body or -1, first byte of its range (206) or -1.
  /// Each function returns 0 to go on; anything else ends the transfer as kTrilHttpStopped. They must not
  /// throw.
  int (*on_head)(void* context, long status, int64_t length, int64_t range_begin);
  int (*on_body)(void* context, const char* data, size_t size);
  int (*on_tick)(void* context);  // about once a second, also while nothing comes
};

enum TrilHttpOutcome {
  kTrilHttpDone = 0,
  kTrilHttpStopped = 1,  // by a function of the request
  kTrilHttpBroken = 2,   // the network: no connection, a stall, an early end; asking again may help
  kTrilHttpRefused = 3,  // the answer can't be taken: too many redirects, a protocol that isn't allowed
};

struct TrilHttpReply {
  int outcome;     // TrilHttpOutcome
  char text[256];  // why, where it isn't done
};

using TrilHttpGet = void (*)(const TrilHttpRequest*, TrilHttpReply*);
/// The module's only symbol.
void tril_http_get(const TrilHttpRequest* request, TrilHttpReply* reply);
}
