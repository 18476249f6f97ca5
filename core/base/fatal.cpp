#include "base/fatal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <new>
#include <string_view>
#include <system_error>

#include "base/partial.h"

namespace shardscape {
namespace {

constexpr int kFatalExit = 3;
constexpr std::string_view kNoMemory =
    "the program got no more memory from the system. Close other programs, raise the limit (ulimit -v), or "
    "ask for less: fewer layers, microbatches, ranks or designs";

// Says why, without taking memory, and ends the program. Files under temporary names stay; the next write to
// the same target removes them.
[[noreturn]] void end_with_message() {
  try {
    if (const auto error = std::current_exception()) std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    write_all(STDERR_FILENO, "error: ");
    write_all(STDERR_FILENO, kNoMemory);
    write_all(STDERR_FILENO, "\n");
    _exit(kFatalExit);
  } catch (const std::exception& error) {
    write_all(STDERR_FILENO, "error: " + fatal_text(error) + "\n");
    _exit(kFatalExit);
  } catch (...) {
    std::abort();
  }
  std::abort();
}

// A file or a connection that is opened later must not become standard output or standard error, which
// messages go to. What is closed stays without use: it cannot be read, or cannot be written.
void keep_standard_descriptors() {
  [[maybe_unused]] int kept = 0;
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF)
      kept = ::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

}  // namespace

std::string fatal_text(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error)) return std::string(kNoMemory);
  const auto* system = dynamic_cast<const std::system_error*>(&error);
  // TBB has no class for it.
  if ((system && system->code() == std::errc::resource_unavailable_try_again) ||
      std::string_view(error.what()).find("pthread_create") != std::string_view::npos)
    return "the system started no further thread. Raise the limit of processes (ulimit -u)";
  return std::string("unexpected failure: ") + error.what();
}

void handle_fatal_states() {
  keep_standard_descriptors();
  std::set_terminate(end_with_message);
  std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace shardscape
