// shardscape-cli examples
#include <iostream>

#include "app/cli/arguments.h"
#include "app/cli/command_list.h"
#include "app/cli/exit_code.h"
#include "app/cli/messages.h"
#include "app/cli/text.h"
#include "base/json_text.h"
#include "design/examples.h"
#include "symbolic/json_value.h"

namespace shardscape {
namespace {

int run_examples(const Arguments& arguments) {
  const auto list = examples();
  if (const auto* problem = std::get_if<Problem>(&list)) {
    print_problem(*problem);
    return kFileError;
  }
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const Example& example : std::get<0>(list)) {
    if (arguments.has("--json"))
      out.push_back({{"id", example.id},
                     {"title", example.title},
                     {"summary", example.summary},
                     {"source", example.source},
                     {"file", example.path.string()}});
    else
      std::cout << example.id << "\n  " << wrapped(example.title + ". " + example.summary, 2) << "\n  "
                << wrapped("Source: " + example.source, 2) << "\n";
  }
  if (arguments.has("--json")) std::cout << json_document(nlohmann::ordered_json{{"examples", out}});
  return kDone;
}

}  // namespace

Command examples_command() {
  return {"examples",
          "list the designs that come with the program",
          "[--json]",
          "Lists complete designs with the source of their layouts. Each fits on its cluster. The flag "
          "--example of other commands starts from one; `shardscape --example ID` opens it in the window.",
          {"shardscape-cli examples", "shardscape-cli report --example llama3-70b-64",
           "shardscape-cli report --example deepseek-v3-training --dp 64 --batch 8192"},
          {json_flag()},
          0,
          run_examples};
}

}  // namespace shardscape
