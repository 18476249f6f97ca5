// find_layouts() against exhaustive search of the same spaces: dense models, experts, long context,
// inference.
// --only TEXT (spaces whose name contains it), --threads N (default: 2). Nothing is asserted.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
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

}  // namespace

int main(int argc, char** argv) {
  const std::string only = argument(argc, argv, "--only", "");
  const int threads = std::stoi(argument(argc, argv, "--threads", "2"));
  std::vector<double> losses, times;
  double searched = 0, none = 0;
  for (const Case& c : cases()) {
    const std::string name = name_of(c);
    if (name.find(only) == std::string::npos) continue;
    LayoutOptions options;
    options.gpus = c.gpus;
    options.threads = threads;
    const Design design = design_of(c);
    auto begin = Clock::now();
    const auto layouts = find_layouts(design, options);
    times.push_back(seconds_since(begin));
    if (!layouts->space) {
      std::printf("%s: %s\n", name.c_str(), to_string(*layouts->unavailable).c_str());
      continue;
    }
    SearchOptions all;
    all.threads = threads;
    begin = Clock::now();
    const auto result = search(layouts->space, all);
    const double exhaustive = seconds_since(begin);
    const SearchResult& whole = std::get<SearchResult>(result);
    ++searched;
    const bool any = !layouts->found.empty();
    if (whole.best.empty() || !any) {
      none += whole.best.empty() && !any;
      if (!whole.best.empty()) losses.push_back(1);
      std::printf("%s: %s\n", name.c_str(), whole.best.empty() ? "nothing fits" : "MISSED");
      continue;
    }
    const double loss = 1 - layouts->found.front().evaluation.tokens_per_second /
                                whole.best.front().evaluation.tokens_per_second;
    losses.push_back(std::max(loss, 0.0));
    std::printf("%6.2f %% off, %5.0f ms, %5lld evaluated; all %9s: %6.2f s  %s\n", 100 * loss,
                1000 * times.back(), static_cast<long long>(layouts->evaluated),
                to_string(layouts->space->size()).c_str(), exhaustive, name.c_str());
    std::fflush(stdout);
    if (loss > 1e-9) {
      for (const auto& [design_, label] : {std::pair{layouts->found.front().design, "found"},
                                           {layouts->space->design_at(whole.best.front().index), "best "}}) {
        std::printf("   %s", label);
        for (const SpaceAxis& axis : layouts->space->axes())
          if (axis.knob) std::printf(" %s %s", axis.id.c_str(), knob_text(design_, *axis.knob).c_str());
        std::printf("\n");
      }
    }
  }
  const auto count = [&](double at_most) {
    return static_cast<double>(
        std::count_if(losses.begin(), losses.end(), [&](double loss) { return loss <= at_most; }));
  };
  const double worst = losses.empty() ? 0 : *std::max_element(losses.begin(), losses.end());
  const std::vector<Figure> figures{
      {"spaces", searched, "", "40"},
      {"spaces in which nothing fits, by both", none, "", ""},
      {"spaces in which the optimum is found", count(1e-9), "", ""},
      {"spaces within 1 % of the optimum", count(0.01), "", "all"},
      {"largest distance from the optimum", 100 * worst, "%", "< 1 %"},
      {"time of a search, median", 1000 * percentile(times, 0.5), "ms", ""},
      {"time of a search, longest", 1000 * percentile(times, 1), "ms", "< 1000 ms"}};
  return report_figures("Find a layout against exhaustive search", figures, argc, argv);
}
