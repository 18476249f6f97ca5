// shardscape-cli inference
#include <iostream>
#include <optional>

#include "app/cli/arguments.h"
#include "app/cli/command_list.h"
#include "app/cli/design_flags.h"
#include "app/cli/exit_code.h"
#include "app/cli/interrupt.h"
#include "app/cli/messages.h"
#include "app/cli/progress_line.h"
#include "base/atomic_write.h"
#include "design/cluster.h"
#include "explore/values.h"
#include "report/inference_report.h"
#include "serving/within_limits.h"

namespace shardscape {
namespace {

int run_inference(const Arguments& arguments) {
  const auto design = design_of(arguments);
  if (const int* exit_code = std::get_if<int>(&design)) return *exit_code;
  const Design& base = std::get<Design>(design);
  const int64_t own[] = {base.workload.batch, base.workload.mode == Mode::Decode
                                                  ? base.workload.context_length
                                                  : base.workload.seq};
  constexpr const char *kFlags[] = {"--batches", "--contexts"}, *kKnobs[] = {"batch", "context_length"};
  std::vector<int64_t> lists[2];
  for (int i = 0; i < 2; ++i) {
    const std::string* text = arguments.value(kFlags[i]);
    auto given = text ? sweep_values(*find_knob(kKnobs[i]), *text) : std::vector<int64_t>{own[i]};
    if (auto* problem = std::get_if<Problem>(&given)) {
      problem->where = kFlags[i];
      print_problem(*problem);
      return kWrongUsage;
    }
    lists[i] = std::get<0>(std::move(given));
  }
  ServiceLimits limits;
  for (const auto& [flag, limit] : {std::pair{"--ttft-limit", &limits.ttft}, {"--tpot-limit", &limits.tpot}})
    if (const std::string* text = arguments.value(flag)) {
      auto read = limit_seconds(*text, flag);
      if (const auto* problem = std::get_if<Problem>(&read)) {
        print_problem(*problem);
        return kWrongUsage;
      }
      *limit = std::get<0>(read);
    }
  Interrupt interrupt;
  const auto plans = std::make_shared<PlanCache>();
  if (lists[1].empty()) lists[1] = usual_contexts(base);
  if (lists[0].empty()) lists[0] = usual_batches(base, lists[1], interrupt.token(), plans);
  const ServingSweep made = [&] {
    ProgressLine line;
    ServingSweep out = sweep(
        base, lists[0], lists[1], interrupt.token(),
        [&](size_t done, size_t all) { line.show(std::to_string(done) + " of " + std::to_string(all)); },
        plans);
    find_within_limits(out, limits, interrupt.token(), plans);
    return out;
  }();
  if (interrupt.token().stop_requested()) return kInterrupted;
  // The problem of the first point; the sweep failed if all points have a problem.
  std::optional<Problem> first;
  bool any = false;
  for (const ServedPoint& p : made.points) {
    if (!p.requested) continue;
    const auto problem = point_problem(p);
    any = any || !problem;
    if (problem && !first) first = problem;
  }
  if (any)
    if (const std::string* path = arguments.value("--csv"))
      if (const auto problem = atomic_write(*path, sweep_csv(made))) {
        print_problem(*problem);
        return kFileError;
      }
  if (arguments.has("--json"))
    std::cout << sweep_json(made);
  else if (any)
    std::cout << "on " << machine_name(base.cluster) << "\n" << sweep_text(made);
  if (any) return kDone;
  print_problem(*first);
  return kNegativeAnswer;
}

}  // namespace

Command inference_command() {
  std::vector<Flag> flags{
      json_flag(),
      {"--csv", 0, FlagKind::Value, "FILE", "Write a table of all points, including the largest batches.", "",
       Output::File},
      {"--batches", 0, FlagKind::Value, "N,N,...|usual",
       "Batches: sequences that all replicas serve at once. Accepts numbers, ranges such as 1..64*2, or "
       "usual. usual selects at most a dozen batches, as in the window: from the smallest batch of the "
       "layout to a batch that no longer fits at the shortest context. Default: the batch of the design.",
       ""},
      {"--contexts", 0, FlagKind::Value, "N,N,...|usual",
       "Contexts: tokens of each prompt in prefill, and of each sequence in decode. usual selects 1,024 to "
       "65,536 and the context of the design. Default: the context of the design.",
       ""},
      {"--ttft-limit", 0, FlagKind::Value, "TIME",
       "Limit of the time to first token, such as 500 ms or 2 s, for the last prompt when all prompts of a "
       "batch arrive at once. Marks the points above the limit, and finds the largest batch within the "
       "limits for each context.",
       ""},
      {"--tpot-limit", 0, FlagKind::Value, "TIME", "Limit of the time per output token, such as 50 ms.", ""}};
  for (Flag& flag : design_flags()) flags.push_back(std::move(flag));
  return {
      "inference",
      "report time to first token, time per output token, throughput and the largest batch",
      "[FLAGS]",
      std::string(
          "Computes prefill and decode of a design for each batch and each context. Prefill reads several "
          "short prompts in one microbatch. Decode makes one token per sequence, in as few microbatches as "
          "fill the pipeline. Prints the time to first token (TTFT) of the first and of the last prompts, "
          "the time per output token (TPOT), tokens per second, the KV cache of a rank, and the largest "
          "batch that fits decode. With latency limits, it also prints the largest batch within the limits, "
          "its throughput per GPU, and the dollars and energy per million output tokens. ") +
          kDesignFlagsHelp,
      {"shardscape-cli inference --model llama3-70b --tp 8 --batches 1,8,64 --contexts 1024,32768",
       "shardscape-cli inference --model llama3-70b --tp 8 --batches usual --contexts 1024..131072*4 "
       "--csv sweep.csv",
       "shardscape-cli inference --model llama3-70b --tp 8 --batches usual --ttft-limit 2s --tpot-limit 50ms",
       "shardscape-cli inference --model deepseek-v3 --tp 8 --compute fp8-blockwise --accelerator "
       "h200-sxm-141gb --json"},
      std::move(flags),
      0,
      run_inference};
}

}  // namespace shardscape
