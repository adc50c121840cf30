// An HTTP server on 127.0.0.1 for tests: each answer is written byte by byte by the test, so it can be wrong
// in every way. What it leaves out: more than one connection at a time, TLS.
#pragma once
#include <arpa/inet.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace tril {

/// One connection at a time: reads the head of a request, lets `answer` write to the socket, closes it.
class HttpServer {
 public:
  using Answer = std::function<void(HttpServer& server, int socket, const std::string& head)>;

  explicit HttpServer(Answer answer)
      : answer_(std::move(answer)), listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener_, 8) != 0 ||
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
      throw std::runtime_error("the test's server can't listen");
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~HttpServer() {
    stop_ = true;
    thread_.join();
    ::close(listener_);
  }

  std::string url(const std::string& path = "/text") const {
    return fmt::format("http://127.0.0.1:{}{}", port_, path);
  }
  std::vector<std::string> heads() {
    const std::lock_guard lock(mutex_);
    return heads_;
  }
  bool stopping() const { return stop_; }
  /// Sends all, or as much as the other side takes.
  static void send(int socket, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t put = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (put <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(put));
    }
  }

 private:
  static bool ready(int fd) {
    pollfd one{fd, POLLIN, 0};
    return ::poll(&one, 1, 20) > 0;
  }
  void serve() {
    while (!stop_) {
      if (!ready(listener_)) continue;
      const int socket = ::accept(listener_, nullptr, nullptr);
      std::string head;
      char byte;
      while (head.find("\r\n\r\n") == std::string::npos && ::recv(socket, &byte, 1, 0) == 1)
        head.push_back(byte);
      {
        const std::lock_guard lock(mutex_);
        heads_.push_back(head);
      }
      answer_(*this, socket, head);
      ::shutdown(socket, SHUT_WR);
      ::close(socket);
    }
  }

  Answer answer_;
  int listener_;
  uint16_t port_ = 0;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::vector<std::string> heads_;
  std::thread thread_;
};

std::string response(std::string_view status, int64_t length, std::string_view more = "") {
  return fmt::format("HTTP/1.1 {}\r\nContent-Length: {}\r\nConnection: close\r\n{}\r\n", status, length,
                     more);
}

}  // namespace tril
