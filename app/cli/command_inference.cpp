// shardscape-cli inference
#include <algorithm>
#include <charconv>
#include <iostream>
#include <optional>

#include "app/cli/arguments.h"
#include "app/cli/command_list.h"
#include "app/cli/design_flags.h"
#include "app/cli/exit_code.h"
#include "app/cli/interrupt.h"
#include "app/cli/messages.h"
#include "design/cluster.h"
#include "simulate/inference.h"

namespace shardscape {
namespace {

// "1,8,64"; nothing where it is no such list.
std::optional<std::vector<int64_t>> numbers(const std::string& text) {
  std::vector<int64_t> out;
  for (size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find(',', begin);
    const std::string part = text.substr(begin, end == std::string::npos ? end : end - begin);
    int64_t value = 0;
    const auto [last, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || last != part.data() + part.size() || value < 1) return std::nullopt;
    out.push_back(value);
  }
  return out;
}

int run(const Arguments& arguments) {
  const auto design = design_of(arguments);
  if (const int* exit_code = std::get_if<int>(&design)) return *exit_code;
  const Design& of = std::get<Design>(design);
  std::vector<int64_t> lists[2] = {{of.workload.batch}, {of.workload.mode == Mode::Decode ? of.workload.context_length : of.workload.seq}};
  constexpr const char* kFlags[2] = {"--batches", "--contexts"};
  for (int i = 0; i < 2; ++i) {
    const std::string* text = arguments.value(kFlags[i]);
    if (!text) continue;
    const auto given = numbers(*text);
    if (!given) {
      print_problem({Severity::Error, kFlags[i], "\"" + *text + "\" is not a list of numbers above 0", "whole numbers with commas between them, as in 1,8,64", {}});
      return kWrongUsage;
    }
    lists[i] = *given;
  }
  Interrupt interrupt;
  const ServingSweep made = sweep(of, lists[0], lists[1], interrupt.token());
  if (interrupt.token().stop_requested()) return kInterrupted;
  const bool any = std::any_of(made.points.begin(), made.points.end(), [](const ServedPoint& p) { return !point_problem(p); });
  if (arguments.has("--json")) std::cout << sweep_json(made);
  else if (any) std::cout << "on " << machine_name(of.cluster) << "\n" << sweep_text(made);
  if (any) return kDone;
  print_problem(*point_problem(made.points.front()));  // what all of them suffer from, or the first does
  return kAnswerIsNo;
}

}  // namespace

Command inference_command() {
  std::vector<Flag> flags{json_flag(),
                          {"--batches", 0, FlagKind::Value, "N,N,...", "Sequences that are served at once, over all replicas; without it the design's batch.", ""},
                          {"--contexts", 0, FlagKind::Value, "N,N,...", "Tokens of each prompt, and of each sequence as the next token is made; without it the design's.", ""}};
  for (Flag& flag : design_flags()) flags.push_back(std::move(flag));
  return {"inference", "time to first token, time per output token, throughput and the largest batch", "[FLAGS]",
          std::string("Serves a design with every number of sequences and every context: prefill reads the prompts, short ones together, decode makes a "
                      "token for all sequences in as few microbatches as fill the pipeline. Prints the time to first token (TTFT), the time per "
                      "output token (TPOT), tokens per second, the cache of keys and values on a rank, and how many sequences fit at most. ") +
              kDesignFlagsHelp,
          {"shardscape-cli inference --model llama3-70b --tp 8 --batches 1,8,64 --contexts 1024,32768",
           "shardscape-cli inference --model deepseek-v3 --tp 8 --compute fp8-blockwise --accelerator h200-sxm-141gb --json"},
          std::move(flags), 0, run};
}

}  // namespace shardscape
