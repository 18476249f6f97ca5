// find_layouts() against exhaustive search of the same spaces: dense models, experts, long context,
// inference.
// --only TEXT (spaces whose name contains it), --threads N (default: 2), --reference FILE (reads the optima
// from the file and adds those that it lacks; delete it when a model of memory or time changes). Nothing is
// asserted.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iomanip>
#include <map>
#include <string>
#include <vector>

#include "design/knobs/knobs.h"
#include "explore/layout.h"
#include "explore/search.h"
#include "support/bench_figures.h"

using namespace shardscape;
using namespace shardscape::bench;

namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct Case {
  const char *kind, *preset;
  int64_t gpus;
  const char* accelerator;
  std::vector<std::pair<const char*, const char*>> settings;
};

const char *const kH100 = "h100-sxm-80gb", *const kH200 = "h200-sxm-141gb", *const kB200 = "b200-hgx-180gb",
                  *const kA100 = "a100-sxm-80gb";

const std::vector<Case>& cases() {
  static const std::vector<Case> list{
      {"dense", "llama3-8b", 8, kH100, {{"batch", "64"}}},
      {"dense", "llama3-8b", 64, kH100, {{"batch", "512"}}},
      {"dense", "llama3-8b", 512, kH100, {{"batch", "512"}}},
      {"dense", "llama3-70b", 64, kH100, {{"batch", "256"}}},
      {"dense", "llama3-70b", 256, kH200, {{"batch", "512"}}},
      {"dense", "llama3-70b", 1024, kH100, {{"batch", "1024"}}},
      {"dense", "llama3.1-405b", 512, kH100, {{"batch", "512"}}},
      {"dense", "llama3.1-405b", 4096, kH100, {{"batch", "2048"}}},
      {"dense", "gpt3-175b", 256, kA100, {{"batch", "1024"}, {"seq", "2048"}}},
      {"dense", "qwen3-32b", 96, kH100, {{"batch", "768"}}},
      {"dense", "gemma2-27b", 64, kH100, {{"batch", "512"}}},
      {"dense", "mistral-7b-v0.3", 16, kA100, {{"batch", "128"}}},
      {"experts", "mixtral-8x7b", 32, kH100, {{"batch", "512"}}},
      {"experts", "mixtral-8x7b", 256, kH100, {{"batch", "1024"}}},
      {"experts", "mixtral-8x22b", 128, kH100, {{"batch", "1024"}}},
      {"experts", "qwen3-30b-a3b", 16, kH100, {{"batch", "512"}}},
      {"experts", "qwen3-30b-a3b", 64, kH100, {{"batch", "1024"}}},
      {"experts", "qwen3-235b-a22b", 128, kH200, {{"batch", "1024"}}},
      {"experts", "qwen3-235b-a22b", 512, kH100, {{"batch", "2048"}}},
      {"experts", "deepseek-v2-lite", 32, kH100, {{"batch", "512"}}},
      {"experts", "deepseek-moe-16b", 64, kA100, {{"batch", "1024"}}},
      {"experts", "deepseek-v3", 256, kB200, {{"batch", "2048"}, {"seq", "4096"}}},
      {"experts", "gpt-oss-20b", 16, kH100, {{"batch", "256"}}},
      {"experts", "gpt-oss-120b", 64, kH100, {{"batch", "512"}}},
      {"long context", "llama3-8b", 32, kH100, {{"batch", "32"}, {"seq", "131072"}}},
      {"long context", "llama3-8b", 128, kH200, {{"batch", "64"}, {"seq", "65536"}}},
      {"long context", "llama3-70b", 128, kH100, {{"batch", "64"}, {"seq", "32768"}}},
      {"long context", "llama3-70b", 256, kH100, {{"batch", "32"}, {"seq", "131072"}}},
      {"long context", "qwen3-32b", 64, kH200, {{"batch", "64"}, {"seq", "65536"}}},
      {"long context", "mixtral-8x7b", 64, kH100, {{"batch", "64"}, {"seq", "32768"}}},
      {"long context", "gpt-oss-20b", 32, kH100, {{"batch", "32"}, {"seq", "65536"}}},
      {"long context", "llama3.1-405b", 1024, kH100, {{"batch", "64"}, {"seq", "131072"}}},
      {"inference", "llama3-8b", 4, kH100, {{"mode", "decode"}, {"batch", "256"}}},
      {"inference", "llama3-70b", 16, kH100, {{"mode", "decode"}, {"batch", "128"}}},
      {"inference", "llama3-70b", 16, kH100, {{"mode", "prefill"}, {"batch", "32"}}},
      {"inference",
       "llama3-70b",
       32,
       kH200,
       {{"mode", "decode"}, {"batch", "32"}, {"context_length", "131072"}}},
      {"inference", "deepseek-v3", 64, kH200, {{"mode", "decode"}, {"batch", "1024"}}},
      {"inference", "qwen3-235b-a22b", 32, kH100, {{"mode", "decode"}, {"batch", "512"}}},
      {"inference", "qwen3-235b-a22b", 32, kH100, {{"mode", "prefill"}, {"batch", "64"}}},
      {"inference", "gpt-oss-120b", 8, kH100, {{"mode", "decode"}, {"batch", "256"}}}};
  return list;
}

std::string name_of(const Case& c) {
  std::string text = std::string(c.kind) + ": " + c.preset + " on " + std::to_string(c.gpus) + " " +
                     c.accelerator;
  for (const auto& [knob, value] : c.settings) text += std::string(", ") + knob + " " + value;
  return text;
}

Design design_of(const Case& c) {
  Design d = default_design();
  if (!apply_preset(d, c.preset)) std::fprintf(stderr, "no preset %s\n", c.preset);
  d.parallel = {};
  const auto set = [&](const char* knob, const char* value) {
    if (const auto problem = set_knob(d, *find_knob(knob), value))
      std::fprintf(stderr, "%s\n", to_string(*problem).c_str());
  };
  set("accelerator", c.accelerator);
  for (const auto& [knob, value] : c.settings) set(knob, value);
  return d;
}

const char* argument(int argc, char** argv, const char* name, const char* usual) {
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], name) == 0) return argv[i + 1];
  return usual;
}

// Optima by name of the space: tokens per second, 0 where nothing fits.
class Reference {
 public:
  explicit Reference(std::string path) : path_(std::move(path)) {
    std::ifstream in(path_);
    std::string line;
    while (std::getline(in, line))
      if (const size_t tab = line.find('\t'); tab != std::string::npos)
        known_[line.substr(tab + 1)] = std::stod(line.substr(0, tab));
  }
  double optimum(const std::string& name, const std::shared_ptr<const Space>& space, int threads) {
    if (const auto it = known_.find(name); it != known_.end()) return it->second;
    SearchOptions all;
    all.threads = threads;
    const auto result = search(space, all);
    const SearchResult& whole = std::get<SearchResult>(result);
    const double best = whole.best.empty() ? 0 : whole.best.front().evaluation.tokens_per_second;
    if (!whole.best.empty())
      std::printf("   optimum:%s\n", knobs_text(*space, whole.best.front().index).c_str());
    if (!path_.empty())
      std::ofstream(path_, std::ios::app) << std::setprecision(17) << best << '\t' << name << '\n';
    return best;
  }
  static std::string knobs_text(const Space& space, Wide index) {
    const Design design = space.design_at(index);
    std::string out;
    for (const SpaceAxis& axis : space.axes())
      if (axis.knob) out += " " + axis.id + " " + knob_text(design, *axis.knob);
    return out;
  }

 private:
  std::string path_;
  std::map<std::string, double> known_;
};

struct Measured {
  double seconds = 0, cpu_seconds = 0, loss = 0;
  bool any = false, possible = false;
};

Measured measure(const Case& c, int threads, Reference& reference) {
  LayoutOptions options;
  options.gpus = c.gpus;
  options.threads = threads;
  const auto begin = Clock::now();
  const std::clock_t cpu = std::clock();
  const auto layouts = find_layouts(design_of(c), options);
  Measured out;
  out.seconds = seconds_since(begin);
  out.cpu_seconds = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
  const std::string name = name_of(c);
  if (layouts->unavailable) {
    std::printf("%s: %s\n", name.c_str(), to_string(*layouts->unavailable).c_str());
    return out;
  }
  const double optimum = reference.optimum(name, layouts->space, threads);
  out.possible = optimum > 0;
  out.any = !layouts->found.empty();
  if (out.possible)
    out.loss = out.any ? std::max(0.0, 1 - layouts->found.front().evaluation.tokens_per_second / optimum) : 1;
  std::printf("%6.2f %% off, %5.0f ms, %5.0f ms of CPU, %5lld of %9s evaluated  %s\n", 100 * out.loss,
              1000 * out.seconds, 1000 * out.cpu_seconds, static_cast<long long>(layouts->evaluated),
              to_string(layouts->space->size()).c_str(), name.c_str());
  if (out.loss > 1e-9 && out.any)
    std::printf(
        "   found:  %s\n",
        Reference::knobs_text(*layouts->space, *layouts->space->index_of(layouts->found.front().design))
            .c_str());
  std::fflush(stdout);
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string only = argument(argc, argv, "--only", "");
  const int threads = std::stoi(argument(argc, argv, "--threads", "2"));
  Reference reference(argument(argc, argv, "--reference", ""));
  std::vector<double> losses, times, cpu;
  double none = 0;
  for (const Case& c : cases()) {
    if (name_of(c).find(only) == std::string::npos) continue;
    const Measured measured = measure(c, threads, reference);
    times.push_back(measured.seconds);
    cpu.push_back(measured.cpu_seconds);
    losses.push_back(measured.loss);
    none += !measured.possible && !measured.any;
  }
  if (losses.empty()) return 0;
  const auto count = [&](double at_most) {
    return static_cast<double>(
        std::count_if(losses.begin(), losses.end(), [&](double loss) { return loss <= at_most; }));
  };
  const std::vector<Figure> figures{
      {"spaces", static_cast<double>(losses.size()), "", "40"},
      {"spaces in which nothing fits, by both", none, "", ""},
      {"spaces in which the optimum is found", count(1e-9), "", ""},
      {"spaces within 1 % of the optimum", count(0.01), "", "all"},
      {"largest distance from the optimum", 100 * percentile(losses, 1), "%", "< 1 %"},
      {"time of a search, median", 1000 * percentile(times, 0.5), "ms", ""},
      {"time of a search, longest", 1000 * percentile(times, 1), "ms", "< 1000 ms"},
      {"CPU time of a search, median", 1000 * percentile(cpu, 0.5), "ms", ""},
      {"CPU time of a search, longest", 1000 * percentile(cpu, 1), "ms", "< 2000 ms"}};
  return report_figures("Find a layout against exhaustive search", figures, argc, argv);
}
