// shardscape-cli check
#include <filesystem>
#include <iostream>

#include "app/cli/arguments.h"
#include "app/cli/command_list.h"
#include "app/cli/exit_code.h"
#include "app/cli/interrupt.h"
#include "app/cli/messages.h"
#include "app/cli/progress_line.h"
#include "trace/checker.h"

namespace shardscape {
namespace {

namespace fs = std::filesystem;

// A folder that is not there is another matter than a bundle that is wrong.
int unreadable(const fs::path& bundle) {
  std::error_code error;
  const fs::file_status status = fs::status(bundle, error);
  const std::string reason = !fs::exists(status)         ? "there is no such folder"
                             : !fs::is_directory(status) ? "it is not a folder"
                                                         : (fs::directory_iterator(bundle, error), error ? error.message() : "");
  if (reason.empty()) return kDone;
  print_problem({Severity::Error, bundle.string(), reason, "the folder of a bundle, as written by shardscape-cli export", {}});
  return kFileError;
}

int run(const Arguments& arguments) {
  if (arguments.operands().empty()) {
    print_problem({Severity::Error, "BUNDLE", "the folder to check is missing", "shardscape-cli check BUNDLE", {}});
    return kWrongUsage;
  }
  const fs::path bundle = arguments.operands().front();
  if (const int exit_code = unreadable(bundle)) return exit_code;
  Interrupt interrupt;
  const CheckReport report = [&] {
    ProgressLine line;
    return check_bundle(bundle, [&](double part) { line.show("checked " + std::to_string(static_cast<int>(100 * part)) + " %"); },
                        interrupt.token());
  }();
  if (interrupt.requested()) {
    std::cerr << "interrupted: the check did not end\n";
    return kInterrupted;
  }
  std::cout << (arguments.has("--json") ? check_json(report) : check_text(report));
  return report.ok() ? kDone : kAnswerIsNo;
}

}  // namespace

Command check_command() {
  return {"check", "prove that an exported bundle runs to its end", "BUNDLE [--json]",
          "Reads every trace of the bundle, applies the rules of its consumers, and plays it through under the resource "
          "rules of a simulator (per rank one computation, and one of collective or send at a time), so that every "
          "rank is known to finish. Exit code 0: no error was found; 1: at least one.",
          {"shardscape-cli check out/llama8", "shardscape-cli check out/llama8 --json"},
          {json_flag()}, 1, run};
}

}  // namespace shardscape
