// Arguments of Megatron-LM: names, names in the dump of arguments, and defaults. Facts and their source:
// resources/launch/megatron_flags.json.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace shardscape {

// How argparse stores the argument: its value, true, false, or true and false ("--x" and "--no-x").
enum class MegatronAction { Value, On, Off, Both };

struct MegatronFlag {
  std::string name;  // "--fp8-format"
  std::string dest;  // "fp8": the name in the dump
  MegatronAction action = MegatronAction::Value;
  std::string otherwise;  // the default; empty: none, or known only at run time
};

class MegatronFlags {
 public:
  // Without the file, all arguments count as known.
  MegatronFlags();

  bool knows(const std::string& argument) const;
  // Whether the value is the argument's default: "1e-05" is "1e-5".
  bool is_default(const std::string& argument, const std::string& value) const;
  // The argument that a row of the dump comes from; null: the row is no argument's.
  const MegatronFlag* of_dest(const std::string& dest) const;

 private:
  std::map<std::string, MegatronFlag> flags_;
  std::map<std::string, const MegatronFlag*> by_dest_;
};

// Python's text of a value without quotes, brackets and types: "['16', '8']" is "16 8", "AttnBackend.auto" is
// "auto", "torch.bfloat16" is "bf16".
std::string plain_python_value(std::string_view text);

}  // namespace shardscape
