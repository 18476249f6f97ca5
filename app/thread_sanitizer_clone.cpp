// clone() for programs under ThreadSanitizer. Clang 14's own wrapper ends the program where Qt starts a
// process with clone(); it follows fork().
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>

// Replaces the weak symbol of the sanitizer's run-time library. The child runs in a copy of the memory, as
// with all callers here, which do not pass CLONE_VM.
extern "C" int clone(int (*run)(void*), void*, int flags, void* argument, ...) noexcept {
  va_list more;
  va_start(more, argument);
  int* pidfd = va_arg(more, int*);
  va_end(more);
  const int child = fork();
  if (child == 0) _exit(run(argument));
  if (child > 0 && (flags & CLONE_PIDFD) != 0) *pidfd = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  return child;
}
