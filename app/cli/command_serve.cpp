// shardscape-cli serve
#include <sstream>
#include <utility>

#include "app/cli/arguments.h"
#include "app/cli/command_list.h"
#include "app/cli/design_flags.h"
#include "app/cli/exit_code.h"
#include "app/cli/interrupt.h"
#include "app/cli/messages.h"
#include "app/cli/serve_bundle.h"
#include "app/cli/serve_comparison.h"
#include "app/cli/service_answer.h"
#include "app/cli/service_flags.h"
#include "base/atomic_write.h"
#include "design/cluster.h"
#include "report/fleet_report.h"
#include "report/service_report.h"
#include "serving/engine/engine_profile.h"

namespace shardscape {
namespace {

// "auto": no rates.
Result<std::vector<double>> rates_of(const std::string& text) {
  std::vector<double> out;
  if (text == "auto") return out;
  std::istringstream rates(text);
  for (std::string rate; std::getline(rates, rate, ',');) {
    ServiceSpec spec;
    if (auto problem = set_setting(spec, *find_setting("rate"), rate)) {
      *problem = Problem(problem->code, "--rates", problem->what, "auto, or numbers such as 1,2,4");
      return *std::move(problem);
    }
    out.push_back(spec.source.rate);
  }
  return out;
}

int sweep(const Arguments& arguments, const Design& design, const ServiceSpec& spec) {
  auto rates = rates_of(*arguments.value("--rates"));
  if (const auto* problem = std::get_if<Problem>(&rates)) return service_failure(*problem, kWrongUsage);
  Question<RateSweep> question{{}, rates_csv, rates_json, rates_text};
  question.compute = [&](std::stop_token stop, const auto& progress) {
    return sweep_rates(design, spec, std::get<0>(std::move(rates)), std::move(stop), {}, progress);
  };
  return ask(arguments, question);
}

// The effect of each setting.
int effects(const Arguments& arguments, const Design& design, const ServiceSpec& spec) {
  Question<SettingEffects> question{{}, effects_csv, effects_json, effects_text};
  question.compute = [&](std::stop_token stop, const auto& progress) {
    return setting_effects(design, spec, std::move(stop), {}, progress);
  };
  return ask(arguments, question);
}

// Questions that simulate several services. They exclude each other, and have no timeline.
using Answer = int (*)(const Arguments&, const Design&, const ServiceSpec&);
constexpr std::pair<const char*, Answer> kQuestions[] = {
    {"--effects", effects}, {"--rates", sweep}, {"--against", compare_with_others}};

// The question of the flags; null: one run. A Problem if flags do not go together.
Result<Answer> question_of(const Arguments& arguments) {
  const std::pair<const char*, Answer>* asked = nullptr;
  for (const auto& question : kQuestions) {
    if (!arguments.has(question.first)) continue;
    if (asked)
      return Problem(ProblemCode::ConflictingFlags, asked->first,
                     std::string("it does not go with ") + question.first, "one of them");
    asked = &question;
  }
  if (!asked) return nullptr;
  for (const char* flag : {"--perfetto", "--bundle"})
    if (arguments.has(flag))
      return Problem(ProblemCode::ConflictingFlags, flag,
                     std::string(asked->first) + " has several runs, and no timeline",
                     std::string(asked->first) + " or " + flag + ", not both");
  return asked->second;
}

int run_serve(const Arguments& arguments) {
  const auto design = design_of(arguments);
  if (const int* exit_code = std::get_if<int>(&design)) return *exit_code;
  print_problems(engine_profile_problems());
  const auto given = service_of(arguments);
  if (const int* exit_code = std::get_if<int>(&given)) return *exit_code;
  const ServiceSpec& spec = std::get<ServiceSpec>(given);
  if (auto problem = check_window_flags(arguments)) return service_failure(*std::move(problem), kWrongUsage);
  const auto question = question_of(arguments);
  if (const auto* problem = std::get_if<Problem>(&question)) return service_failure(*problem, kWrongUsage);
  if (const Answer answer = std::get<0>(question)) return answer(arguments, std::get<Design>(design), spec);
  Interrupt interrupt;
  const bool steps = arguments.has("--csv") || arguments.has("--perfetto") || arguments.has("--bundle");
  const auto made = interrupt.end_at_once_during([&] {
    return run_service(std::get<Design>(design), spec, {}, {}, steps ? RunSteps::Kept : RunSteps::Counted);
  });
  if (const auto* problem = std::get_if<Problem>(&made)) return service_refusal(*problem);
  const ServiceRun& service = *std::get<0>(made);
  if (const std::string* path = arguments.value("--perfetto")) {
    const std::string timeline = interrupt.end_at_once_during([&] { return service_timeline(service); });
    if (const auto problem = atomic_write(*path, timeline)) return service_failure(*problem, kFileError);
    if (interrupt.requested()) return kInterrupted;
  }
  if (arguments.has("--bundle"))
    if (const int code = write_window(arguments, service, interrupt); code != kDone) return code;
  return print_answer(
      arguments, [&] { return requests_csv(service); }, [&] { return service_json(service); },
      [&] { return service_text(service); });
}

}  // namespace

Command serve_command() {
  std::vector<Flag> flags{
      json_flag(),
      {"--csv", 0, FlagKind::Value, "FILE",
       "Write a table of all requests; with --rates of all rates, with --effects of all effects, with "
       "--against of all figures.",
       "", Output::File},
      {"--rates", 0, FlagKind::Value, "R,R,...|auto",
       "Latency against load: one simulation per rate, in requests per second. auto "
       "selects a dozen rates up to beyond the throughput of the service, and more near "
       "the largest rate that keeps the service level.",
       ""},
      {"--effects", 0, FlagKind::Switch, "",
       "The effect of each setting of the engine: one simulation for one step up and "
       "one step down, the largest effect on p99, goodput or cost first.",
       ""},
      against_flag(),
      {"--perfetto", 0, FlagKind::Value, "FILE",
       "Write requests and engine steps as a timeline for ui.perfetto.dev.", "", Output::File}};
  for (Flag& flag : window_flags()) flags.push_back(std::move(flag));
  for (Flag& flag : service_flags()) flags.push_back(std::move(flag));
  for (Flag& flag : design_flags()) flags.push_back(std::move(flag));
  return {"serve",
          "simulate requests to a service: latencies, throughput and cache",
          "[FLAGS]",
          std::string(
              "Simulates an engine that serves requests, step by step: arrivals, queue, batches of "
              "chunks of prompts and generated tokens, KV cache. The scheduler is that of vLLM V1, SGLang or "
              "TensorRT-LLM. "
              "The seconds of a step follow from the graph and the kernels of the design. Prints "
              "percentiles of the time to first token (TTFT), the time per output token (TPOT), the "
              "gaps between tokens (ITL), the time to the last token and the queueing time, the "
              "throughput, and the requests per second within the limits. ") +
              kDesignFlagsHelp,
          {"shardscape-cli serve --model llama3-70b --tp 4 --rate 4 --input-len 2048 --output-len 256",
           "shardscape-cli serve --model llama3-8b --trace requests.csv --ttft-limit 2s --tpot-limit 50ms "
           "--json",
           "shardscape-cli serve --model llama3-70b --tp 4 --users 64 --requests 640 --perfetto serve.json",
           "shardscape-cli serve --model llama3-70b --tp 4 --rate 4 --bundle out/steps --steps 2s:2.5s",
           "shardscape-cli serve --model llama3-70b --tp 4 --rate 4 --engine sglang --schedule-policy lpm",
           "shardscape-cli serve --model llama3-70b --tp 4 --rate 4 --prefill-replicas 2 --decode-replicas 3",
           "shardscape-cli serve --model llama3-70b --tp 4 --rates auto --ttft-limit 2s --tpot-limit 50ms",
           "shardscape-cli serve --model llama3-70b --tp 4 --rate 4 --slo 'p99 ttft<2s, p90 tpot<50ms' "
           "--effects"},
          std::move(flags),
          0,
          run_serve};
}

}  // namespace shardscape
