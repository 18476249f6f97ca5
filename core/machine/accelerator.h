// The accelerator catalogue (resources/catalogue/accelerators.json and files of that name in a person's own folder, whose entries
// replace built-in ones by id), each value with its source. Format: the note at the head of the file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/problem.h"
#include "machine/sources.h"
#include "model/axis.h"

namespace shardscape {

struct Accelerator {
  std::string id, name;
  Sources sources;                // of the values below
  std::vector<std::string> aliases;  // other names a person may type
  std::string family;             // of architectures whose kernels behave alike: "hopper"; empty: none
  int64_t processors = 0;         // that compute tiles of a matrix product side by side: streaming multiprocessors; 0: not known
  int64_t collective_processors = 0;  // that a collective beside kernels keeps to itself; 0: none, or not known
  double bf16_tflops = 0;         // dense, as all peaks here
  double fp8_tflops = 0;          // 0: no such hardware
  double fp4_tflops = 0;          // likewise
  double fp32_tflops = 0;         // without tensor cores; 0: not published
  double memory_gb = 0;           // as sold; bytes in memory_bytes
  int64_t memory_bytes = 0;       // nominal capacity, memory_gb · 2^30
  double memory_gbps = 0;         // 10^9 bytes per second
  double scaleup_gbps = 0;        // per direction, 10^9 bytes per second; 0: not published
  double nic_gbps = 0;            // per direction, 10^9 bytes per second; 0: not published
  double board_watts = 0;         // power limit of the board; 0: not published
  double price_per_hour = 0;      // dollars to rent one for an hour; 0: not known
};

const std::vector<Accelerator>& accelerators();
const Accelerator* find_accelerator(const std::string& id_or_alias);
// Mistakes found in the catalogue; the entries or files in question were left out.
const std::vector<Problem>& accelerator_problems();

// Dense peak, FLOPs per second, of products in a type. What the device has no hardware for runs in the next wider type that it has.
double peak_flops(const Accelerator& accelerator, DType compute);

}  // namespace shardscape
