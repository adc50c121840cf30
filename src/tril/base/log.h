// What tril tells the user beside its results: notes and warnings, all on standard error.
// Standard output belongs to results alone.
#pragma once
#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>

namespace tril::log {

/// --quiet: notes are dropped, warnings stay.
void set_quiet(bool quiet);
bool quiet();
/// From here on nothing is said at all: another process speaks for this one.
void mute();

/// One plain line on standard error; dropped under --quiet.
void note_line(std::string_view text);
/// One line on standard error that begins "warning: "; never dropped, never changes the exit code.
void warning_line(std::string_view text);

template <class... Args>
void note(fmt::format_string<Args...> format, Args&&... args) {
  note_line(fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void warn(fmt::format_string<Args...> format, Args&&... args) {
  warning_line(fmt::format(format, std::forward<Args>(args)...));
}

/// Shows `text` as the line that stands last on a terminal's standard error and is written over by the next
/// one;
/// "" erases it. Notes and warnings erase it, print themselves, and draw it again below. No newline in
/// `text`.
void live_line(std::string_view text);

/// True where standard error (fd 2) or standard output (fd 1) is a terminal that shows colour and moving
/// lines: a terminal, NO_COLOR unset, TERM not "dumb".
bool fancy(int fd);

}  // namespace tril::log
