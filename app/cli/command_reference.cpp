// shardscape-cli reference
#include <iostream>

#include "app/cli/arguments.h"
#include "app/cli/command_list.h"
#include "app/cli/exit_code.h"
#include "app/cli/messages.h"
#include "app/cli/reference.h"

namespace shardscape {
namespace {

int run(const Arguments& arguments) {
  const std::string page = arguments.operands().empty() ? "" : arguments.operands().front();
  if (page == "command-line") {
    std::cout << command_line_reference();
  } else if (page == "json") {
    std::cout << json_reference();
  } else if (page == "problems") {
    std::cout << problem_reference();
  } else {
    print_problem({ProblemCode::FlagValueInvalid, "PAGE", "there is no reference page \"" + page + "\"",
                   "command-line, json or problems"});
    return kWrongUsage;
  }
  return kDone;
}

}  // namespace

Command reference_command() {
  return {
      "reference",
      "the reference pages of the documentation, as Markdown",
      "command-line|json|problems",
      "Prints docs/command-line.md, docs/json.md or docs/problems.md: every command with its flags, every "
      "knob with its key, flag, accepted values and meaning, or every problem with its code.",
      {"shardscape-cli reference json"},
      {},
      1,
      run};
}

}  // namespace shardscape
