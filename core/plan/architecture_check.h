// Checks the text of an architecture or a block while a person writes it, and counts the model that it makes.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/problem.h"
#include "design/design.h"
#include "model/library.h"
#include "model/own_files.h"
#include "plan/report.h"

namespace shardscape {

// The layers of one kind of a model.
struct KindNumbers {
  std::string name, kind;           // kind: of the architecture
  std::string mixer, feed_forward;  // as calls (model/layer_parts.h); empty: none, or several
  int64_t layers = 0;
  Wide parameters = 0;         // of one layer
  double flops_per_token = 0;  // counted FLOPs of one layer: forward and backward in training
};

struct ArchitectureCheck {
  TextKind kind;
  // Mistakes of the text: `where` is "NAME:LINE:COLUMN". Empty: the text can be read.
  std::vector<Problem> mistakes;
  // Why the text cannot be counted with these sizes; `where` names a knob.
  std::vector<Problem> size_problems;
  // The library with the text in it. Null if the text is not JSON.
  std::shared_ptr<const ModelLibrary> library;
  // The model of the text on one rank; valid if there are neither mistakes nor problems of sizes. Null for a
  // block that no architecture can call.
  std::shared_ptr<const Report> report;
  std::vector<KindNumbers> kinds;      // of a valid report
  std::vector<std::string> completed;  // ids of sizes that the design lacks and a preset supplied
  bool ok() const { return mistakes.empty(); }
  bool counted() const { return report && report->valid(); }
};

// name: of the file, in messages. base: gives the sizes, and for a block the architecture that calls it.
// Returns nullptr when stopped.
std::shared_ptr<const ArchitectureCheck> check_architecture_text(const std::string& text,
                                                                 const std::string& name, const Design& base,
                                                                 std::stop_token stop = {});

// The kinds of layers of a valid report, in the order of the graph. The architecture is that of
// ModelLibrary::instance().
std::vector<KindNumbers> kind_numbers(const Report& report);
// Counted FLOPs per token of the whole model, all ranks together.
double flops_per_token(const Report& report);

}  // namespace shardscape
