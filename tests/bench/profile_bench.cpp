// Seconds to read and analyse a profile of 100 MB. profile_bench [FILE] reads FILE instead of a made trace.
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "profile/profile_step.h"
#include "support/bench_figures.h"
#include "support/profile_trace.h"

using namespace shardscape;

namespace {

std::string made_trace() {
  const std::string file = (std::filesystem::temp_directory_path() / "profile_bench.json").string();
  test::ProfileTrace trace;
  const std::string name(200, 'k');  // names of ATen's kernels are as long
  for (int64_t i = 0; i < 150'000; ++i) {
    const double at = 20.0 * static_cast<double>(i);
    trace.op(i, "aten::mm", at, 8, ", \"Input Dims\": [[4096, 4096], [4096, 4096]]").launch(i, at + 2);
    trace.kernel(name, at + 5, 14, i);
  }
  trace.write(file);
  return file;
}

}  // namespace

int main(int argc, char** argv) {
  const bool given = argc > 1 && argv[1][0] != '-';
  const std::string file = given ? argv[1] : made_trace();
  const auto begin = std::chrono::steady_clock::now();
  const auto profile = read_profile(file);
  const auto read = std::chrono::steady_clock::now();
  if (const auto* problem = std::get_if<Problem>(&profile)) {
    std::fprintf(stderr, "%s\n", to_string(*problem).c_str());
    return 1;
  }
  const auto step = profiled_step(std::get<Profile>(profile));
  const auto end = std::chrono::steady_clock::now();
  const auto seconds = [](auto from, auto to) { return std::chrono::duration<double>(to - from).count(); };
  const double megabytes = static_cast<double>(std::filesystem::file_size(file)) / 1e6;
  if (!given) std::filesystem::remove(file);
  return bench::report_figures("profile",
                               {{"file", megabytes, "MB", ""},
                                {"read", seconds(begin, read), "s", "< 3 s for 100 MB"},
                                {"analyse", seconds(read, end), "s", ""}},
                               argc, argv);
}
