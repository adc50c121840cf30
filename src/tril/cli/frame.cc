// The frame of the program.
#include "tril/cli/frame.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <new>

#include "tril/base/error.h"
#include "tril/base/interrupt.h"
#include "tril/base/log.h"
#include "tril/base/quote.h"
#include "tril/base/threads.h"
#include "tril/base/typed.h"
#include "tril/cli/commands.h"
#include "tril/cli/output.h"

namespace tril::cli {
namespace {

// A line for each line of the text, each with the program's name before it.
void print_error(std::string_view text) {
  while (true) {
    const size_t end = text.find('\n');
    std::string line = "tril: " + std::string(text.substr(0, end)) + "\n";
    std::fwrite(line.data(), 1, line.size(), stderr);
    if (end == std::string_view::npos || end + 1 == text.size()) return;
    text.remove_prefix(end + 1);
  }
}

constexpr char kNoMemory[] = "tril: not enough memory; a smaller batch, context or model needs less\n";

// Says why without asking for memory, and ends.
template <size_t n>
[[noreturn]] void end_with(const char (&line)[n], int code) {
  [[maybe_unused]] const ssize_t told = write(STDERR_FILENO, line, n - 1);
  _exit(code);
}

// Let go of when memory has run out, so that the way out has some.
std::atomic<char*> reserve{nullptr};

void on_no_memory() {
  std::set_new_handler(nullptr);
  delete[] reserve.exchange(nullptr);
  throw std::bad_alloc();
}

// Where an exception can't be passed on. Only want of memory comes so far, in what may not throw.
void on_terminate() {
  try {
    if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    end_with(kNoMemory, kExitRefused);
  } catch (...) {
  }
  std::abort();
}

// A mapped file lost the bytes that are being read.
void on_bus_error(int) {
  end_with("tril: a file was cut short by another program, or its disk failed, while it was read\n",
           kExitRefused);
}

void prepare() {
  signal(SIGXFSZ, SIG_IGN);  // a file size limit is seen as an error of write
  signal(SIGPIPE, SIG_IGN);  // a closed pipe is seen as an error of write
  signal(SIGBUS, on_bus_error);
  std::set_terminate(on_terminate);
  reserve = new (std::nothrow) char[1 << 16];
  std::set_new_handler(on_no_memory);
}

// A closed standard stream would be taken by the next file that is opened, and results written into that
// file.
void hold_standard_streams() {
  for (const int fd : {0, 1, 2})
    if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", fd == 2 ? O_WRONLY : O_RDONLY) != fd)
      _exit(kExitRefused);
}

// "data audit" is a command of two words.
size_t words_of_command(std::span<const std::string> arguments) {
  if (arguments.size() < 2) return 1;
  const std::string two = arguments[0] + " " + arguments[1];
  for (const Command& command : commands())
    if (two == command.name) return 2;
  return 1;
}

std::string command_name(std::span<const std::string> arguments, size_t words) {
  const std::string name = words == 2 ? arguments[0] + " " + arguments[1] : arguments[0];
  if (name == "--version") return "version";
  if (name == "--help" || name == "-h") return "help";
  if (name.starts_with("-"))
    refuse("{} stands before the command; options follow it: {} COMMAND {} ...", in_quotes(name),
           program_as_typed(), name);
  if (words == 1 && name == "data" && arguments.size() < 2)
    refuse("data needs a second word; see: {}", typed({"help", "data"}));
  if (words == 1 && name == "data") return name + " " + arguments[1];
  return name;
}

int run_command(std::span<const std::string> arguments) {
  if (arguments.empty()) {
    print(overview());
    return kExitDone;
  }
  const size_t words = words_of_command(arguments);
  const Command& command = find_command(command_name(arguments, words));
  Options options(command.name, command.summary);
  Common common;
  const Action action = declare(command, options, common);
  try {
    options.parse(arguments.subspan(words));
  } catch (const HelpAsked&) {
    print(options.help());
    return kExitDone;
  }
  log::set_quiet(common.quiet);
  if (common.threads) set_threads(static_cast<int>(*common.threads));
  return action(common);
}

int guarded(std::span<const std::string> arguments) {
  try {
    const int code = run_command(arguments);
    flush();
    return code;
  } catch (const OutputClosed&) {
    return kExitDone;  // whoever read the output has seen enough
  } catch (const Error& error) {
    print_error(error.what());
    return error.exit_code();
  } catch (const std::bad_alloc&) {
    std::fwrite(kNoMemory, 1, sizeof kNoMemory - 1, stderr);
    return kExitRefused;
  } catch (const std::exception& error) {
    print_error(error.what());
    return kExitRefused;
  }
}

// Work that can be saved takes SIGINT also where a script's "&" had it ignored, from its first moment on.
interrupt::Ignored ignored_sigint(std::span<const std::string> arguments) {
  const std::string command = arguments.empty() ? "" : arguments.front();
  const bool saves = command == "train" || command == "resume" || command == "demo";
  return saves ? interrupt::Ignored::kTaken : interrupt::Ignored::kStays;
}

}  // namespace

int run(std::span<const std::string> arguments) {
  prepare();
  const interrupt::Guard guard(ignored_sigint(arguments));
  hold_standard_streams();
  const int code = guarded(arguments);
  // What could not be written was told above; nothing more is tried when the program ends.
  if (fflush(stdout) != 0) freopen("/dev/null", "w", stdout);
  return code;
}

}  // namespace tril::cli
