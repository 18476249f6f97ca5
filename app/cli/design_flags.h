// The flags that describe a design, straight from the knob table, and the design that they describe.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "app/cli/arguments.h"
#include "app/cli/command.h"
#include "design/design.h"
#include "model/huggingface/hf_import.h"
#include "model/library.h"
#include "plan/report.h"

namespace shardscape {

// --model, --hf-config, --design, --architecture, then one per knob.
std::vector<Flag> design_flags();
// How the flags make a design, for the help.
extern const char* const kDesignFlagsHelp;

// A preset on one rank with its usual sequence length, 4 microbatches of one sequence.
Design single_rank_design(const Preset& preset);
// The same of an imported model; sequences of 8,192 tokens or as many as it takes.
Design imported_design(const ImportResult& import);

// Whether there are models to start from. Prints what could not be read of the library and, where nothing
// could, why.
bool models_found();

// The design, or the exit code after the problems were printed. left_out: knobs (and "model") whose flags
// hold more than one value.
std::variant<Design, int> design_of(const Arguments& arguments, const std::set<std::string>& left_out = {});

// A valid report, or the exit code after the problems were printed. invalid: called before that with the
// report of a design that has errors.
std::variant<std::shared_ptr<const Report>, int> report_of(const Arguments& arguments,
                                                           void (*invalid)(const Report&) = nullptr);

}  // namespace shardscape
