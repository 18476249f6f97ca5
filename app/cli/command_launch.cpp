// shardscape-cli launch
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/cli/arguments.h"
#include "app/cli/command_list.h"
#include "app/cli/design_flags.h"
#include "app/cli/exit_code.h"
#include "app/cli/messages.h"
#include "app/cli/text.h"
#include "base/atomic_write.h"
#include "base/json_text.h"
#include "launch/launch_export.h"

namespace shardscape {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> framework_ids() {
  std::vector<std::string> out;
  for (const LaunchFramework& one : launch_export_frameworks()) out.emplace_back(one.id);
  return out;
}

void print_gaps(const std::string& framework, const std::vector<LaunchGap>& gaps) {
  if (gaps.empty()) return;
  std::vector<std::vector<std::string>> rows;
  rows.reserve(gaps.size());
  for (const LaunchGap& gap : gaps) rows.push_back({"  " + gap.knob, gap.value, gap.reason});
  std::cerr << "not in the launch of " << framework << ", which therefore differs from the design:\n"
            << text_table(rows, {Align::Left, Align::Left, Align::Left});
}

Json launch_json(const std::string& framework, const LaunchText& launch) {
  Json out{{"framework", framework}, {"file_name", launch.file_name}, {"text", launch.text}};
  Json& gaps = out["gaps"] = Json::array();
  for (const LaunchGap& gap : launch.gaps)
    gaps.push_back({{"knob", gap.knob}, {"value", gap.value}, {"reason", gap.reason}});
  return out;
}

int run_launch(const Arguments& arguments) {
  const std::string* framework = arguments.value("--as");
  if (!framework) {
    print_problem({ProblemCode::FlagValueMissing, "--as", "the framework is missing",
                   "one of " + joined(framework_ids(), ", ")});
    return kWrongUsage;
  }
  const auto made = report_of(arguments);
  if (const int* exit_code = std::get_if<int>(&made)) return *exit_code;
  const auto& report = std::get<0>(made);
  print_design_problems(report->problems, arguments);
  if (!report->valid()) return kNegativeAnswer;
  const auto written = export_launch(report->design, *framework);
  if (const auto* problem = std::get_if<Problem>(&written)) {
    print_problem(*problem);
    return problem->code == ProblemCode::LaunchFormat ? kWrongUsage : kNegativeAnswer;
  }
  const LaunchText& launch = std::get<LaunchText>(written);
  if (arguments.has("--json")) {
    std::cout << json_document(launch_json(*framework, launch));
    return kDone;
  }
  print_gaps(*framework, launch.gaps);
  const std::string* output = arguments.value("--output");
  if (!output) {
    std::cout << launch.text;
    return kDone;
  }
  if (const auto problem = atomic_write(*output, launch.text)) {
    print_problem(*problem);
    return kFileError;
  }
  std::cerr << "wrote the launch to " << *output << "\n";
  return kDone;
}

}  // namespace

Command launch_command() {
  std::vector<Flag> flags{
      {"--as", 0, FlagKind::Value, "FRAMEWORK", "The framework: " + joined(framework_ids(), ", ") + ".", ""},
      {"--output", 'o', FlagKind::Value, "FILE", "Write the launch to this file instead of standard output.",
       "", Output::File},
      json_flag()};
  for (Flag& flag : design_flags()) flags.push_back(std::move(flag));
  return {"launch",
          "write a design as the launch of a training framework or inference server",
          "--as FRAMEWORK [FLAGS] [-o FILE]",
          std::string("Prints a command line or a file of settings that runs the design. Lists every setting "
                      "that the framework cannot express, with the reason. ") +
              kDesignFlagsHelp,
          {"shardscape-cli launch --as megatron-lm --model llama3-70b --tp 8 --pp 4 --dp 8 -o launch.sh",
           "shardscape-cli launch --as torchtitan --design my.shardscape.json",
           "shardscape-cli import launch.sh --gpus 256"},
          std::move(flags),
          0,
          run_launch};
}

}  // namespace shardscape
