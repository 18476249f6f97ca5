// Flags that describe a design (from the knob table), and the design that they describe.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "app/cli/arguments.h"
#include "app/cli/command.h"
#include "design/design.h"
#include "design/starting_design.h"
#include "plan/report.h"

namespace shardscape {

// --model, --hf-config, --design, --architecture, then one flag per knob.
std::vector<Flag> design_flags();
// Help text: how the flags combine to a design.
extern const char* const kDesignFlagsHelp;

// Whether any flag of a design is given.
bool describes_design(const Arguments& arguments);

// Whether the model library contains presets. Prints problems of the library, and the reason if it is empty.
bool models_found();

// The design, or an exit code after printing the problems. left_out: knobs (and "model") whose flags may have
// more than one value.
std::variant<Design, int> design_of(const Arguments& arguments, const std::set<std::string>& left_out = {});

// Prints the problems with a design. A problem with a knob that no flag sets names the file of the design.
void print_design_problems(const std::vector<Problem>& problems, const Arguments& arguments);

// A valid report, or an exit code after printing the problems. invalid: called before the problems are
// printed, with the report of an invalid design.
std::variant<std::shared_ptr<const Report>, int> report_of(const Arguments& arguments,
                                                           void (*invalid)(const Report&) = nullptr);

}  // namespace shardscape
