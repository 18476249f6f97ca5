#include "app/cli/cli.h"

#include <exception>
#include <iostream>
#include <span>

#include "app/cli/arguments.h"
#include "app/cli/command.h"
#include "app/cli/exit_code.h"
#include "app/cli/help.h"
#include "app/cli/messages.h"
#include "app/cli/output_paths.h"
#include "app/cli/plain_output.h"
#include "base/fatal.h"
#include "base/suggest.h"
#include "base/version.h"

namespace shardscape {
namespace {

int unknown_command(const std::string& name) {
  std::vector<std::string> known;
  for (const Command& command : commands()) known.push_back(command.name);
  const auto near = closest(name, known);
  std::string accepted;
  for (const std::string& word : known) accepted += (accepted.empty() ? "" : ", ") + word;
  print_problem({ProblemCode::UnknownCommand, name,
                 near ? "there is no such command; did you mean " + *near + "?" : "there is no such command",
                 accepted + "; \"shardscape-cli --help\" explains them"});
  return kWrongUsage;
}

int run_command(const Command& command, std::span<const char* const> words) {
  if (asks_for_help(words)) {
    std::cout << command_help(command);
    return kDone;
  }
  const auto arguments = parse_arguments(words, command);
  if (const auto* problem = std::get_if<Problem>(&arguments)) {
    print_problem(*problem);
    return kWrongUsage;
  }
  if (const auto problem = check_output_paths(std::get<Arguments>(arguments), command)) {
    print_problem(*problem);
    return problem->code == ProblemCode::ConflictingFlags ? kWrongUsage : kFileError;
  }
  return command.run(std::get<Arguments>(arguments));
}

int run_words(std::span<const char* const> words) {
  if (words.empty()) {
    std::cerr << overview_help();
    return kWrongUsage;
  }
  const std::string first = words[0];
  if (first == "--version") {
    std::cout << "shardscape-cli " << program_version() << "\n";
    return kDone;
  }
  if (first == "--help" || first == "-h" || (first == "help" && words.size() == 1)) {
    std::cout << overview_help();
    return kDone;
  }
  const bool help = first == "help";
  const Command* command = find_command(help ? words[1] : words[0]);
  if (!command) return unknown_command(help ? words[1] : words[0]);
  if (!help) return run_command(*command, words.subspan(1));
  std::cout << command_help(*command);
  return kDone;
}

}  // namespace

int run_cli(int argc, char** argv) {
  const PlainOutput out(std::cout), messages(std::cerr);
  try {
    const int exit_code = run_words(
        std::span<const char* const>(argv + 1, argc > 0 ? static_cast<size_t>(argc - 1) : 0));
    // A full disk or a closed pipe is a failure.
    if (std::cout.flush()) return exit_code;
    std::cerr << "error: standard output cannot be written\n";
    return kFileError;
  } catch (const std::exception& error) {
    std::cerr << "error: " << fatal_text(error) << "\n";
    return kFileError;
  }
}

}  // namespace shardscape
