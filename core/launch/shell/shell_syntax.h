// The syntax of shell scripts, as far as launch scripts use it: commands, quotes, expansions, arrays, if,
// case, for, while, functions, pipelines and here-documents (POSIX.1-2017, Shell Command Language, and bash's
// arrays,
// [[ ]] and (( ))).
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/problem.h"

namespace shardscape {

// A word as it stands in the script, with quotes and expansions: `"$A"/x`, `B=(1 2)`.
struct ShellWord {
  std::string text;
  int line = 0;  // from 1
};

// How a command depends on the one before it.
enum class ShellJoin { Always, IfSucceeded, IfFailed, Pipe };

struct ShellNode;
using ShellList = std::vector<ShellNode>;

// How a case branch ends: ";;" leaves the case, ";&" runs the next branch, ";;&" tests the next patterns.
enum class ShellCaseEnd { Leave, RunNext, TestNext };

struct ShellBranch {
  ShellList condition;              // of if, elif, while and until; empty for else
  std::vector<ShellWord> patterns;  // of a case branch
  ShellList body;
  ShellCaseEnd end = ShellCaseEnd::Leave;  // of a case branch
};

enum class ShellNodeKind { Command, If, Case, For, While, Group, Function };

struct ShellNode {
  ShellNodeKind kind = ShellNodeKind::Command;
  int line = 0;
  ShellJoin join = ShellJoin::Always;
  bool negated = false;               // "! command"
  bool subshell = false;              // a group in "( )", whose variables end with it
  std::vector<ShellWord> words = {};  // of a command; the subject of a case; the values of a for.
                                      // A for without a name counts: its word is "i = 0; i < 8; i++"
  std::string name = {};              // the variable of a for; the name of a function
  std::vector<ShellBranch> branches = {};
  std::string document = {};  // text of a here-document
  bool verbatim = false;      // its delimiter has quotes: variables in the text stay
  ShellWord output = {};      // target of ">" or ">>"; empty: none
};

// Errors name the line: a quote, bracket or block that does not end, or a word out of place.
std::variant<ShellList, Problem> parse_shell(std::string_view script);

// Position behind the quoted or expanded part that begins at text[at]: a quote, "$(", "${", "$((" or a
// backquote; npos if it does not end.
size_t end_of_shell_part(std::string_view text, size_t at);

}  // namespace shardscape
