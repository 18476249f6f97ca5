// The entry point of libFuzzer for one reader: FUZZ_READER.
#include <tbb/global_control.h>

#include <cstddef>
#include <cstdint>

#include "design/knobs/knobs.h"
#include "fuzz/reader.h"
#include "model/library.h"

#ifndef FUZZ_READER
#define FUZZ_READER expression  // tools that read this file alone
#endif

// What the program reads once is no part of the time of an input.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
  shardscape::ModelLibrary::instance();
  shardscape::knobs();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // One thread: the coverage of an input is the same at every run.
  static const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
  shardscape::fuzz::FUZZ_READER({reinterpret_cast<const char*>(data), size});
  return 0;
}
