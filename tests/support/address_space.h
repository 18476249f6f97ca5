// A limit of the memory that a process may take.
#pragma once

#include <sys/resource.h>
#include <unistd.h>
#include <QFile>

#include <cstdint>

namespace shardscape::test {

// During its lifetime, the process may take so many bytes of addresses more. Sanitizers take terabytes of
// addresses when a program starts.
class AddressSpace {
 public:
  explicit AddressSpace(int64_t more) {
    getrlimit(RLIMIT_AS, &before_);
    QFile file("/proc/self/statm");
    if (!file.open(QIODevice::ReadOnly)) qFatal("there is no /proc/self/statm");
    struct rlimit limit = before_;
    limit.rlim_cur = static_cast<rlim_t>(
        file.readAll().split(' ').front().toLongLong() * sysconf(_SC_PAGESIZE) + more);
    setrlimit(RLIMIT_AS, &limit);
  }
  ~AddressSpace() { setrlimit(RLIMIT_AS, &before_); }
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;

 private:
  struct rlimit before_ {};
};

}  // namespace shardscape::test
