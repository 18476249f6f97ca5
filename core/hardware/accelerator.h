// The accelerator catalogue, with a source for each value. Data: resources/catalogue/accelerators.json, and
// files of the same name in the user's folder, whose entries replace built-in entries with equal ids. The
// head of the built-in file describes the format.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/problem.h"
#include "hardware/sources.h"
#include "model/axis.h"

namespace shardscape {

struct Accelerator {
  std::string id, name;
  Sources sources;                   // of the values below
  std::vector<std::string> aliases;  // other accepted names
  std::string family;                // architectures with similar kernel behaviour: "hopper"; empty: none
  int64_t processors = 0;            // streaming multiprocessors (SMs); 0: not known
  // SMs that a collective occupies while kernels run concurrently; 0: none, or not known.
  int64_t collective_processors = 0;
  double bf16_tflops = 0;  // dense peak, as are all peaks below; 10^12 FLOPs per second
  double fp8_tflops = 0;   // 0: no FP8 hardware
  double fp4_tflops = 0;   // 0: no FP4 hardware
  double int8_tops = 0;  // integers of 8 bits, 10^12 operations per second; 0: no such hardware or not known
  double fp32_tflops = 0;    // without tensor cores; 0: not published
  double memory_gb = 0;      // capacity as sold
  int64_t memory_bytes = 0;  // nominal capacity, memory_gb · 2^30
  // What the driver reports to programs (cudaMemGetInfo), bytes; 0: not known.
  int64_t device_bytes = 0;
  double memory_gbps = 0;   // 10^9 bytes per second
  double scaleup_gbps = 0;  // per direction, 10^9 bytes per second; 0: not published
  double nic_gbps = 0;      // per direction, 10^9 bytes per second; 0: not published
  // Most bytes that one channel of NCCL, a CTA, moves per second in one direction, 10^9; 0: not known.
  double channel_gbps = 0;
  double board_watts = 0;     // power limit of the board; 0: not published
  double price_per_hour = 0;  // dollars per rented hour; 0: not known
};

const std::vector<Accelerator>& accelerators();
const Accelerator* find_accelerator(const std::string& id_or_alias);
// A shared_ptr without ownership, for a catalogue entry: entries live as long as the program.
inline std::shared_ptr<const Accelerator> unowned(const Accelerator* entry) {
  return {std::shared_ptr<void>(), entry};
}
// Mistakes in the catalogue. Entries or files with a mistake are left out.
const std::vector<Problem>& accelerator_problems();

// Dense peak of matrix products in a type, FLOPs per second. A type without hardware support runs in the next
// wider supported type.
double peak_flops(const Accelerator& accelerator, DType compute);
// Whether the matrix units support a quantized type. Units for MX blocks came with those for 4 bits
// (Blackwell).
bool has_matrix_units(const Accelerator& accelerator, DType type);

}  // namespace shardscape
