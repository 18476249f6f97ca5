// A profile of one rank that the PyTorch profiler (Kineto) recorded: what the device ran, and what the host
// did to launch it. Times are nanoseconds on the clock of the file.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/problem.h"

namespace shardscape {

// Arguments of a collective, as PyTorch writes them (torch/csrc/distributed/c10d/ParamCommsUtils.hpp).
struct CollectiveArguments {
  std::string name;                             // "allreduce", "_reduce_scatter_base"
  std::string dtype;                            // c10 scalar type: "BFloat16", "Float"; empty: not recorded
  std::string group, group_meaning;             // "0", "default_pg"
  int64_t in_elements = -1, out_elements = -1;  // of the rank's input and output; -1: not recorded
  int64_t group_size = 0;                       // 0: not recorded
  std::string ranks;                            // "[0, 1]"
};

enum class DeviceWork : uint8_t { Kernel, Copy, Fill };  // Copy: memcpy; Fill: memset

struct DeviceSpan {
  int64_t begin = 0, end = 0;
  int64_t correlation = -1;  // of the launch; -1: not recorded
  int64_t op = -1;           // "External id": of the host op that launched; -1: not recorded
  int64_t bytes = -1;        // of a copy or fill; -1: not recorded
  uint32_t name = 0;         // index into Profile::names
  int32_t stream = 0, device = 0;
  int32_t collective = -1;  // index into Profile::collectives; -1: none
  DeviceWork work = DeviceWork::Kernel;
};

enum class HostWork : uint8_t {
  Op,          // "aten::mm"
  Launch,      // "cudaLaunchKernel", "hipModuleLaunchKernel"
  Annotation,  // "ProfilerStep#3", record_function of the program
  Module       // nn.Module call: "LlamaDecoderLayer_0"
};

struct HostSpan {
  int64_t begin = 0, end = 0;
  int64_t id = -1;        // Launch: its correlation; otherwise its External id
  int64_t sequence = -1;  // of autograd: a backward op has the number of its forward op; -1: none
  uint32_t name = 0;      // index into Profile::names
  uint32_t thread = 0;    // an index
  int32_t inputs = -1;    // index into Profile::inputs; -1: not recorded
  int32_t collective = -1;
  bool backward = false;  // runs for a forward op of another thread
  HostWork work = HostWork::Op;
};

// Shapes and types of the inputs of an op that is a matrix product or an attention.
struct OpInputs {
  std::vector<std::vector<int64_t>> shapes;
  std::vector<std::string> types;   // "c10::BFloat16"
  std::vector<std::string> values;  // of scalars: "True"; may be empty
};

struct Profile {
  std::string file;
  std::string device;            // "NVIDIA B200"; empty: not recorded
  std::optional<int64_t> rank;   // in the job
  std::optional<int64_t> ranks;  // of the job
  int64_t devices = 0;           // of the host; 0: not recorded
  std::vector<std::string> names;
  std::vector<DeviceSpan> spans;  // by begin
  std::vector<HostSpan> host;     // by begin
  std::vector<OpInputs> inputs;
  std::vector<CollectiveArguments> collectives;
  int64_t events = 0;   // in the file
  int64_t skipped = 0;  // events without a usable time

  const std::string& name(const DeviceSpan& span) const { return names[span.name]; }
  const std::string& name(const HostSpan& span) const { return names[span.name]; }
};

// Reads a trace of torch.profiler, compressed with gzip or not. A Problem: FileUnreadable, or ProfileFormat
// with the file and the line. The text is never held as a whole. Stopped: the events so far.
Result<Profile> read_profile(const std::string& file, const std::stop_token& stop = {});
// Whether the file is JSON or compressed, as profiles are, and not a table. False if it cannot be read.
bool looks_like_profile(const std::string& file);
// The files to read: a folder stands for its files whose names end in .json or .json.gz, sorted by name. A
// Problem if a folder has none.
Result<std::vector<std::string>> profile_files(const std::vector<std::string>& paths);

}  // namespace shardscape
