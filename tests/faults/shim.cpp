// A library for LD_PRELOAD that makes calls of the system fail. fault_run.h uses it; README.md explains it.
//
// SHARDSCAPE_FAULT=KIND:N:ACTION fails the N-th call of a kind, KIND:N+:ACTION each from the N-th on. ACTION
// is the number of an errno; KILL: the process ends as by kill -9 before the call; STOP: the process waits
// for SIGCONT before the call, which then works. SHARDSCAPE_FAULT_COUNTS=FILE: at exit, FILE gets a line
// "KIND CALLS" per kind. SHARDSCAPE_CLOCK_JUMP=N:SECONDS: from its N-th reading on, the clock of the day is
// SECONDS ahead. SHARDSCAPE_NO_EXCHANGE=1: two files cannot be exchanged, as on NFS.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdlib>
#include <cstring>

namespace {

// File: every call of the kinds that change files.
enum Kind { Write, Open, Rename, Sync, Remove, File, Memory, Thread, Clock, kKinds };
constexpr const char* kNames[kKinds] = {"write", "open",   "rename", "sync", "remove",
                                        "file",  "memory", "thread", "clock"};
constexpr int kKill = -1, kStop = -2;

struct Fault {
  int kind = -1, action = 0;
  long first = 0;
  bool all_later = false;
};

std::atomic<long> calls[kKinds];

Fault read_fault() {
  Fault fault;
  const char* text = std::getenv("SHARDSCAPE_FAULT");
  const char* colon = text ? std::strchr(text, ':') : nullptr;
  if (!colon) return fault;
  for (int kind = 0; kind < kKinds; ++kind)
    if (std::strncmp(text, kNames[kind], static_cast<size_t>(colon - text)) == 0) fault.kind = kind;
  char* rest = nullptr;
  fault.first = std::strtol(colon + 1, &rest, 10);
  fault.all_later = *rest == '+';
  const char* action = std::strchr(rest, ':');
  fault.action = !action || std::strcmp(action, ":KILL") == 0 ? kKill
                 : std::strcmp(action, ":STOP") == 0          ? kStop
                                                              : std::atoi(action + 1);
  return fault;
}

const Fault& fault() {
  static const Fault read = read_fault();
  return read;
}

bool hit(Kind kind) {
  const long call = ++calls[kind];
  const Fault& wanted = fault();
  return wanted.kind == kind && (call == wanted.first || (wanted.all_later && call > wanted.first));
}

// Whether this call fails; sets errno.
bool fails(Kind kind) {
  const bool file = kind != Memory && kind != Thread && hit(File);
  if (!hit(kind) && !file) return false;
  if (fault().action == kKill) ::kill(::getpid(), SIGKILL);
  if (fault().action == kStop) {
    ::kill(::getpid(), SIGSTOP);
    return false;
  }
  errno = fault().action;
  return true;
}

template <class... Words>
long call(long number, Words... words) {
  return ::syscall(number, words...);
}

bool writes(int flags) { return (flags & (O_CREAT | O_WRONLY | O_RDWR)) != 0; }

int open_at(int folder, const char* path, int flags, mode_t mode) {
  if (writes(flags) && fails(Open)) return -1;
  return static_cast<int>(call(SYS_openat, folder, path, flags, mode));
}

mode_t mode_of(int flags, va_list list) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(list, mode_t) : 0;
}

// Seconds by which the clock of the day is wrong.
long jump() {
  static const char* const text = std::getenv("SHARDSCAPE_CLOCK_JUMP");
  if (!text) return 0;
  char* rest = nullptr;
  const long first = std::strtol(text, &rest, 10);
  return ++calls[Clock] >= first && *rest == ':' ? std::strtol(rest + 1, nullptr, 10) : 0;
}

__attribute__((destructor)) void write_counts() {
  const char* path = std::getenv("SHARDSCAPE_FAULT_COUNTS");
  if (!path) return;
  const int file = static_cast<int>(call(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0666));
  char line[64];
  for (int kind = 0; kind < kKinds; ++kind) {
    const int length = std::snprintf(line, sizeof line, "%s %ld\n", kNames[kind], calls[kind].load());
    call(SYS_write, file, line, length);
  }
  call(SYS_close, file);
}

}  // namespace

// The three standard streams always work: the message of a failure goes there.
#define SHIM_WRITE(file) \
  if ((file) > STDERR_FILENO && fails(Write)) return -1

extern "C" {

ssize_t write(int file, const void* bytes, size_t size) {
  SHIM_WRITE(file);
  return call(SYS_write, file, bytes, size);
}

ssize_t pwrite(int file, const void* bytes, size_t size, off_t at) {
  SHIM_WRITE(file);
  return call(SYS_pwrite64, file, bytes, size, at);
}

ssize_t pwrite64(int file, const void* bytes, size_t size, off64_t at) {
  return pwrite(file, bytes, size, at);
}

ssize_t writev(int file, const iovec* parts, int count) {
  SHIM_WRITE(file);
  return call(SYS_writev, file, parts, count);
}

int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(flags, list);
  va_end(list);
  return open_at(AT_FDCWD, path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(flags, list);
  va_end(list);
  return open_at(AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(flags, list);
  va_end(list);
  return open_at(folder, path, flags, mode);
}

int openat64(int folder, const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(flags, list);
  va_end(list);
  return open_at(folder, path, flags, mode);
}

int mkdir(const char* path, mode_t mode) noexcept {
  return fails(Open) ? -1 : static_cast<int>(call(SYS_mkdirat, AT_FDCWD, path, mode));
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
  if (fails(Rename)) return -1;
  static const bool no_exchange = std::getenv("SHARDSCAPE_NO_EXCHANGE") != nullptr;
  if (no_exchange && (flags & RENAME_EXCHANGE) != 0) {
    errno = EINVAL;
    return -1;
  }
  return static_cast<int>(call(SYS_renameat2, from_folder, from, to_folder, to, flags));
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  return renameat2(from_folder, from, to_folder, to, 0);
}

int rename(const char* from, const char* to) noexcept { return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0); }

int link(const char* from, const char* to) noexcept {
  return fails(Rename) ? -1 : static_cast<int>(call(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0));
}

int fsync(int file) { return fails(Sync) ? -1 : static_cast<int>(call(SYS_fsync, file)); }
int fdatasync(int file) { return fails(Sync) ? -1 : static_cast<int>(call(SYS_fdatasync, file)); }
int syncfs(int file) noexcept { return fails(Sync) ? -1 : static_cast<int>(call(SYS_syncfs, file)); }

int unlinkat(int folder, const char* path, int flags) noexcept {
  return fails(Remove) ? -1 : static_cast<int>(call(SYS_unlinkat, folder, path, flags));
}

int unlink(const char* path) noexcept { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char* path) noexcept { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

void* mmap(void* at, size_t size, int rights, int flags, int file, off_t offset) noexcept {
  if ((flags & MAP_ANONYMOUS) != 0 && fails(Memory)) return MAP_FAILED;
  return reinterpret_cast<void*>(call(SYS_mmap, at, size, rights, flags, file, offset));
}

void* mmap64(void* at, size_t size, int rights, int flags, int file, off64_t offset) noexcept {
  return mmap(at, size, rights, flags, file, offset);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*work)(void*), void* with) noexcept {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto real = reinterpret_cast<Create>(::dlsym(RTLD_NEXT, "pthread_create"));
  return fails(Thread) ? errno : real(thread, how, work, with);
}

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const long result = call(SYS_clock_gettime, clock, now);
  if (result == 0 && clock == CLOCK_REALTIME) now->tv_sec += jump();
  return static_cast<int>(result);
}

int gettimeofday(timeval* now, void*) noexcept {
  timespec fine{};
  if (clock_gettime(CLOCK_REALTIME, &fine) != 0) return -1;
  *now = {fine.tv_sec, fine.tv_nsec / 1000};
  return 0;
}

time_t time(time_t* now) noexcept {
  timespec fine{};
  clock_gettime(CLOCK_REALTIME, &fine);
  if (now) *now = fine.tv_sec;
  return fine.tv_sec;
}

}  // extern "C"
