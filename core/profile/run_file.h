// What a file or a folder of a run is: an execution trace, or a profile of the PyTorch profiler.
#pragma once

#include <string>

namespace shardscape {

enum class RunFile { None, Trace, Profile };

// By the name (NAME.et, NAME.<rank>.et) or the first part of the text, compressed or not. A folder is what
// its first file in the order of names is, of those that are one. None also for what cannot be read.
RunFile kind_of_run_file(const std::string& path);

}  // namespace shardscape
