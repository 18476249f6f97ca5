// Writes the traces of all ranks into a sink, in parallel. Memory is bounded by one file image per thread.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/problem.h"
#include "bundle/bundle.h"
#include "bundle/sink.h"
#include "chakra/image.h"

namespace shardscape {

// The trace files of a rank class: the ranks of one stage, or those at one ring position of a stage.
struct FileClass {
  int stage = 0;
  int64_t position = 0;
  std::vector<int64_t> ranks{};        // ascending
  size_t index = 0;                    // of the source
  int64_t nodes = 0;                   // per rank
  int64_t collectives = 0, sends = 0;  // per rank
  int64_t bytes = 0;                   // all ranks together
  uint64_t digest = 0;                 // poly61_fold over the files in rank order
  std::vector<size_t> used_slots{};    // numbers that occur in the files
};

struct TraceTotals {
  int64_t ranks = 0, nodes = 0, collectives = 0, sends = 0, bytes = 0;
  std::vector<FileClass> classes;  // by stage, then position; without those that have no rank here
};

// Where traces come from: lowered from a design, or expanded from a compact bundle.
class TraceSource {
 public:
  virtual ~TraceSource() = default;
  // Makes images of the files of a class.
  class Encoder {
   public:
    virtual ~Encoder() = default;
    virtual TraceImage image(const SlotTexts& texts, const std::stop_token& stop) const = 0;
  };
  // The classes that have ranks, with their ranks.
  virtual std::vector<FileClass> classes() const = 0;
  // The numbers of rank number k of the class.
  virtual SlotTexts texts(const FileClass& of, size_t k) const = 0;
  // Sets the counts and slots of the class. Called from several threads. Throws LoweringError.
  virtual std::unique_ptr<Encoder> encoder(FileClass& of, const std::stop_token& stop) const = 0;
};

struct TraceWriting {
  std::string name = "trace";
  // Only the trace of the first rank of each class, as class_file_name(); totals are those of all ranks.
  bool compact = false;
};
std::string trace_file_name(const std::string& name, int64_t rank);  // "trace.12.et"
std::string class_file_name(size_t index);                           // "class-3.et"

// Problems: of the sink, of the design (a number does not fit), or stopped_problem().
Result<TraceTotals> write_traces(const TraceSource& source, const TraceWriting& how, ByteSink& sink,
                                 const ExportProgressFn& progress, std::stop_token stop);

Problem stopped_problem();

}  // namespace shardscape
