// shardscape-cli audit
#include <iostream>

#include "app/cli/arguments.h"
#include "app/cli/audit_output.h"
#include "app/cli/command_list.h"
#include "app/cli/exit_code.h"
#include "app/cli/messages.h"

namespace shardscape {
namespace {

int run(const Arguments& arguments) {
  if (arguments.operands().empty()) {
    print_problem({ProblemCode::OperandMissing, "RECORDING", "the file to audit is missing",
                   "shardscape-cli audit RECORDING.json ..."});
    return kWrongUsage;
  }
  std::vector<Audit> audits;
  for (const std::string& path : arguments.operands()) {
    auto recording = read_recording(path);
    if (const auto* problem = std::get_if<Problem>(&recording)) {
      print_problem(*problem);
      return kFileError;
    }
    audits.push_back(audit_recording(std::get<Recording>(std::move(recording))));
  }
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

}  // namespace

Command audit_command() {
  constexpr int kAnyNumber = 1 << 20;
  return {"audit",
          "compare this program with recordings of real training code",
          "RECORDING.json ... [--summary] [--json]",
          "A recording lists the operations of one rank of a training run. For each recording, builds the "
          "design of the same run and compares line by line. Parameters, FLOPs of matrix products and "
          "attention, and collectives (count, elements, bytes, type, group, order) must be equal. Bytes "
          "saved for the backward must agree within 1 %. Fields of a recording that no design can express "
          "are listed with the reason. Exit code 0: every recording matches; 1: at least one does not.",
          {"shardscape-cli audit run.json", "shardscape-cli audit recordings/*.json --summary"},
          {{"--summary", 0, FlagKind::Switch, "", "Print one row per recording.", ""}, json_flag()},
          kAnyNumber,
          run};
}

}  // namespace shardscape
