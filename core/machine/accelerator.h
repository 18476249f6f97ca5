// The accelerator catalogue (resources/catalogue/accelerators.json), each value with its source.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/problem.h"

namespace shardscape {

struct Accelerator {
  std::string id, name, source;
  std::vector<std::string> aliases;  // other names a person may type
  double bf16_tflops = 0;         // dense
  double memory_gb = 0;           // as sold; bytes in memory_bytes
  int64_t memory_bytes = 0;       // nominal capacity, memory_gb · 2^30
  double memory_gbps = 0;         // 10^9 bytes per second
  double scaleup_gbps = 0;        // per direction, 10^9 bytes per second; 0: not published
  double nic_gbps = 0;            // per direction, 10^9 bytes per second; 0: not published
};

const std::vector<Accelerator>& accelerators();
const Accelerator* find_accelerator(const std::string& id_or_alias);
// Mistakes found in the catalogue; the entries or files in question were left out.
const std::vector<Problem>& accelerator_problems();

}  // namespace shardscape
