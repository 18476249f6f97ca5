// shardscape-cli audit
#include <filesystem>
#include <iostream>

#include "app/cli/arguments.h"
#include "app/cli/audit_output.h"
#include "app/cli/command_list.h"
#include "app/cli/design_flags.h"
#include "app/cli/exit_code.h"
#include "app/cli/messages.h"
#include "profile/rank_profile.h"
#include "validation/profile_audit.h"

namespace shardscape {
namespace {

int print_audits(const Arguments& arguments, const std::vector<Audit>& audits) {
  bool all = true;
  for (const Audit& audit : audits) all = all && audit.matches();
  if (arguments.has("--json")) {
    std::cout << audit_json(audits);
  } else {
    if (!arguments.has("--summary"))
      for (const Audit& audit : audits) std::cout << audit_text(audit) << "\n";
    if (audits.size() > 1 || arguments.has("--summary")) std::cout << audit_summary(audits);
  }
  return all ? kDone : kNegativeAnswer;
}

// The exit code of a failure, after its message. nullopt: done.
std::optional<int> audit_profiles(const Arguments& arguments, std::vector<Audit>& audits) {
  const auto made = report_of(arguments);
  if (const int* code = std::get_if<int>(&made)) return *code;
  const auto files = profile_files(arguments.operands());
  if (const auto* problem = std::get_if<Problem>(&files)) {
    print_problem(*problem);
    return kNegativeAnswer;
  }
  for (const std::string& file : std::get<std::vector<std::string>>(files)) {
    const auto read = profiled_rank(file, 0);
    if (const auto* problem = std::get_if<Problem>(&read)) return print_refusal(*problem);
    const RankProfile& rank = std::get<RankProfile>(read);
    audits.push_back(audit_profile(file, rank.step, rank.rank, std::get<0>(made)));
  }
  return std::nullopt;
}

bool is_profile(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored) || std::holds_alternative<Profile>(read_profile(path));
}
Problem profile_without_design(const std::string& path) {
  return {ProblemCode::ProfileFormat, path, "a profile does not say which design it ran",
          "a recording, or a profile with --design FILE or other flags of a design"};
}

int run_audit(const Arguments& arguments) {
  if (arguments.operands().empty()) {
    print_problem({ProblemCode::OperandMissing, "RECORDING", "the file to audit is missing",
                   "shardscape-cli audit RECORDING.json ..."});
    return kWrongUsage;
  }
  std::vector<Audit> audits;
  if (describes_design(arguments)) {
    if (const auto code = audit_profiles(arguments, audits)) return *code;
    return print_audits(arguments, audits);
  }
  for (const std::string& path : arguments.operands()) {
    auto recording = read_recording(path);
    if (const auto* problem = std::get_if<Problem>(&recording)) {
      return print_refusal(is_profile(path) ? profile_without_design(path) : *problem);
    }
    audits.push_back(audit_recording(std::get<Recording>(std::move(recording))));
  }
  return print_audits(arguments, audits);
}

}  // namespace

Command audit_command() {
  std::vector<Flag> flags{{"--summary", 0, FlagKind::Switch, "", "Print one row per recording.", ""},
                          json_flag()};
  for (Flag& flag : design_flags()) flags.push_back(std::move(flag));
  return {
      "audit",
      "compare this program with recordings of real training code",
      "RECORDING.json ... | PROFILE.. DESIGN FLAGS [--summary] [--json]",
      "A recording lists the operations of one rank of a training run. For each recording, builds the "
      "design of the same run and compares line by line. Parameters, FLOPs of matrix products and "
      "attention, and collectives (count, elements, bytes, type, group, order) must be equal. Bytes "
      "saved for the backward must agree within 1 %. Fields of a recording that no design can express "
      "are listed with the reason. With flags that describe a design, the files are traces of the PyTorch "
      "profiler, or folders of them: their collectives (calls and bytes in a step, type, number of ranks) "
      "must be those of the design. Exit code 0: every recording matches; 1: at least one does not.",
      {"shardscape-cli audit run.json", "shardscape-cli audit recordings/*.json --summary",
       "shardscape-cli audit traces/rank0.pt.trace.json.gz --design my.shardscape.json"},
      std::move(flags),
      kAnyNumber,
      run_audit};
}

}  // namespace shardscape
