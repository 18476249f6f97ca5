// Reports and designs for the trace tests.
#pragma once

#include <QTemporaryDir>
#include <filesystem>
#include <memory>

#include "plan/report.h"
#include "support/designs.h"

namespace shardscape::test {

// A small batch and a short sequence; every node still lasts at least a nanosecond.
Design trace_design(const char* preset, int64_t tp, int64_t pp, int64_t dp, bool sequence_parallel,
                    int64_t microbatches, int64_t layers);
// Throws the first problem of an invalid design.
std::shared_ptr<const Report> trace_report(const Design& design);

// Representative designs: every strategy and the corners of the mesh.
struct NamedDesign {
  const char* name;
  Design design;
};
std::vector<NamedDesign> trace_designs();
// A row of a test for each of them, and the design of the row.
void add_trace_rows();
Design fetched_trace_design();

}  // namespace shardscape::test
