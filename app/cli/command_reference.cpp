// shardscape-cli reference
#include <algorithm>
#include <iostream>
#include <map>

#include "app/cli/arguments.h"
#include "app/cli/command_list.h"
#include "app/cli/completion.h"
#include "app/cli/exit_code.h"
#include "app/cli/man_page.h"
#include "app/cli/messages.h"
#include "app/cli/reference.h"
#include "app/cli/text.h"
#include "base/data_dir.h"
#include "base/documentation.h"

namespace shardscape {
namespace {

std::string last_part(const std::string& name) { return name.substr(name.rfind('/') + 1); }

int list_pages(const std::vector<DocumentationPage>& pages) {
  std::vector<std::vector<std::string>> rows;
  rows.reserve(pages.size());
  for (const DocumentationPage& page : pages) rows.push_back({last_part(page.name), page.title});
  std::cout << text_table(rows, {Align::Left, Align::Left});
  return kDone;
}

int print_page(const std::string& name) {
  const std::vector<DocumentationPage> pages = documentation_pages();
  const auto page = std::find_if(pages.begin(), pages.end(), [&](const DocumentationPage& candidate) {
    return candidate.name == name || last_part(candidate.name) == name;
  });
  if (page == pages.end()) {
    print_problem({ProblemCode::FlagValueInvalid, "PAGE", "there is no page \"" + name + "\"",
                   "a name that \"shardscape-cli reference\" lists"});
    return kWrongUsage;
  }
  const auto text = read_text(page->path);
  if (const auto* problem = std::get_if<Problem>(&text)) {
    print_problem(*problem);
    return kFileError;
  }
  std::cout << std::get<std::string>(text);
  return kDone;
}

// Texts that the program makes from its commands, settings and problems.
const std::map<std::string, std::string (*)()> kMade{
    {"command-line", command_line_reference}, {"json", json_reference},
    {"problems", problem_reference},          {"man", command_line_man_page},
    {"man-window", window_man_page},          {"completion-bash", bash_completion},
    {"completion-zsh", zsh_completion},       {"completion-fish", fish_completion}};

int run_reference(const Arguments& arguments) {
  if (arguments.operands().empty()) return list_pages(documentation_pages());
  const std::string page = arguments.operands().front();
  const auto made = kMade.find(page);
  if (made == kMade.end()) return print_page(page);
  std::cout << made->second();
  return kDone;
}

}  // namespace

Command reference_command() {
  return {"reference",
          "print the pages of the documentation, as Markdown",
          "[PAGE]",
          "Prints a page of docs/, for example \"memory\". Without a page, prints the names of all pages. "
          "The program writes three pages itself: \"command-line\" has every command with its flags, "
          "\"json\" has every setting with its key, flag, accepted values and meaning, and \"problems\" has "
          "every problem with its code. It also writes its manual pages, \"man\" and \"man-window\", and the "
          "completions of shells: \"completion-bash\", \"completion-zsh\" and \"completion-fish\".",
          {"shardscape-cli reference", "shardscape-cli reference memory", "shardscape-cli reference json",
           "shardscape-cli reference completion-bash > "
           "~/.local/share/bash-completion/completions/shardscape-cli"},
          {},
          1,
          run_reference};
}

}  // namespace shardscape
