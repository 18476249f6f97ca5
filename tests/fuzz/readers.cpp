#include "fuzz/reader.h"

namespace shardscape::fuzz {

std::span<const Reader> readers() {
  static constexpr Reader kReaders[] = {
#define READER(name, longest, what) {#name, name},
#include "fuzz/readers.def"
#undef READER
  };
  return kReaders;
}

}  // namespace shardscape::fuzz
