// tril_fetch: HTTP GET over libcurl, for fetch.cc. A shared object of its own, since linking libcurl costs
// every start of the program several milliseconds.
#include "tril/data/fetch_module.h"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>
#include <string_view>

namespace {
using Clock = std::chrono::steady_clock;

struct Transfer {
  const TrilHttpRequest* request;
  CURL* curl;
  bool head_seen = false, stopped = false, stalled = false;
  curl_off_t received = 0;
  Clock::time_point last_byte = Clock::now();
};

/// The first byte of "bytes 100-199/200", or -1.
int64_t range_begin(CURL* curl) {
  curl_header* header = nullptr;
  if (curl_easy_header(curl, "Content-Range", 0, CURLH_HEADER, -1, &header) != CURLHE_OK) return -1;
  std::string_view value(header->value);
  constexpr std::string_view kUnit = "bytes ";
  if (value.substr(0, kUnit.size()) != kUnit) return -1;
  value.remove_prefix(kUnit.size());
  int64_t begin = -1;
  const auto [end, fault] = std::from_chars(value.data(), value.data() + value.size(), begin);
  return fault == std::errc() && end != value.data() + value.size() && *end == '-' ? begin : -1;
}

/// Tells the head of the final answer once. False where the request's function wants no more.
bool tell_head(Transfer& transfer) {
  if (transfer.head_seen) return true;
  transfer.head_seen = true;
  long status = 0;
  curl_off_t length = -1;
  curl_easy_getinfo(transfer.curl, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(transfer.curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
  const TrilHttpRequest& request = *transfer.request;
  transfer.stopped = request.on_head(request.context, status, length, range_begin(transfer.curl)) != 0;
  return !transfer.stopped;
}

size_t on_write(char* data, size_t one, size_t size, void* context) {
  Transfer& transfer = *static_cast<Transfer*>(context);
  const TrilHttpRequest& request = *transfer.request;
  if (!tell_head(transfer)) return CURL_WRITEFUNC_ERROR;
  transfer.stopped = request.on_body(request.context, data, one * size) != 0;
  return transfer.stopped ? CURL_WRITEFUNC_ERROR : one * size;
}

/// libcurl calls this about once a second. Its own watch for low speed averages over several seconds, which
/// finds a stall late; here only bytes that come count.
int on_progress(void* context, curl_off_t, curl_off_t received, curl_off_t, curl_off_t) {
  Transfer& transfer = *static_cast<Transfer*>(context);
  const TrilHttpRequest& request = *transfer.request;
  const Clock::time_point now = Clock::now();
  if (received != transfer.received) {
    transfer.received = received;
    transfer.last_byte = now;
  }
  transfer.stalled = std::chrono::duration<double>(now - transfer.last_byte).count() > request.stall_seconds;
  if (transfer.stalled) return 1;
  transfer.stopped = transfer.stopped || request.on_tick(request.context) != 0;
  return transfer.stopped ? 1 : 0;
}

void reply_with(TrilHttpReply* reply, TrilHttpOutcome outcome, std::string_view text) {
  reply->outcome = outcome;
  const size_t size = std::min(text.size(), sizeof reply->text - 1);
  std::memcpy(reply->text, text.data(), size);
  reply->text[size] = '\0';
}

void judge(CURLcode code, const Transfer& transfer, const char* detail, TrilHttpReply* reply) {
  if (code == CURLE_OK) return reply_with(reply, kTrilHttpDone, "");
  if (transfer.stopped) return reply_with(reply, kTrilHttpStopped, "");
  if (transfer.stalled) return reply_with(reply, kTrilHttpBroken, "nothing has come for too long");
  const std::string_view text = *detail != '\0' ? detail : curl_easy_strerror(code);
  const bool refused = code == CURLE_TOO_MANY_REDIRECTS || code == CURLE_UNSUPPORTED_PROTOCOL ||
                       code == CURLE_URL_MALFORMAT || code == CURLE_PEER_FAILED_VERIFICATION;
  reply_with(reply, refused ? kTrilHttpRefused : kTrilHttpBroken, text);
}
}  // namespace

extern "C" __attribute__((visibility("default"))) void tril_http_get(const TrilHttpRequest* request,
                                                                     TrilHttpReply* reply) {
  CURL* curl = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? curl_easy_init() : nullptr;
  if (curl == nullptr) return reply_with(reply, kTrilHttpBroken, "libcurl does not start");
  Transfer transfer{request, curl};
  char detail[CURL_ERROR_SIZE] = "";
  const bool secure = std::string_view(request->url).substr(0, 6) == "https:";
  curl_easy_setopt(curl, CURLOPT_URL, request->url);
  curl_easy_setopt(curl, CURLOPT_USERAGENT, request->agent);
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, secure ? "https" : "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl, CURLOPT_MAXREDIRS, static_cast<long>(request->max_redirects));
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request->stall_seconds * 1000));
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, detail);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_write);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &transfer);
  char range[32] = "";
  if (request->from > 0) {
    // CURLOPT_RESUME_FROM fails where a server answers with the whole file; a plain range lets fetch.cc take
    // it.
    char* end = std::to_chars(range, range + sizeof range - 2, request->from).ptr;
    std::memcpy(end, "-", 2);
    curl_easy_setopt(curl, CURLOPT_RANGE, range);
  }
  CURLcode code = curl_easy_perform(curl);
  if (code == CURLE_OK && !tell_head(transfer)) code = CURLE_WRITE_ERROR;  // an answer without a body
  judge(code, transfer, detail, reply);
  curl_easy_cleanup(curl);
  curl_global_cleanup();
}
