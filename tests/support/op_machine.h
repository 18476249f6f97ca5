// Runs the ops of a segment on the ranks of a pipeline stage. A collective runs by its definition: it lays
// out or reduces the whole tensor over its group, then cuts each member's part.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "design/design.h"
#include "graph/graph.h"
#include "mesh/mesh.h"
#include "model/library.h"
#include "support/interpreter.h"
#include "support/kernels.h"
#include "symbolic/binding.h"

namespace shardscape::test {

[[noreturn]] void fail(const std::string& what);  // throws std::runtime_error

class OpMachine {
 public:
  // Builds the graph. serving: the tokens and caches of inference; null for training.
  OpMachine(const Design& design, const ModelLibrary& library, const Serving* serving,
            const GraphChange& change);

 protected:
  // By rank: the value of every tensor of a segment.
  using RankValues = std::map<int64_t, std::vector<RealTensor>>;

  // The rows of the whole tensor that a rank holds, per dimension: nested shards, major axis first.
  Rows part(const Tensor& t, int64_t rank) const;
  RealTensor local(const Tensor& t, const RealTensor& whole, int64_t rank) const;
  // Tokens from one sequence to the next.
  int64_t stride() const;
  // Position in the sequence of a step's first token.
  int64_t first_token() const;
  void execute(const Segment& s, OpId begin, OpId end, int stage, RankValues& values,
               CheckpointPolicy checkpoint_policy, bool deferrable = false) const;

  Design d_;
  Binding binding_;
  DeviceMesh mesh_;
  const Serving* serving_;
  std::shared_ptr<const Graph> graph_;
  std::map<int64_t, std::vector<int64_t>> stage_ranks_;  // by pipeline stage
  int64_t layer_ = -1;                                   // whose ops run; -1: no layer

 private:
  // The part of an operand that a rank holds.
  struct Operand {
    std::vector<int64_t> shape;
    std::optional<Rows> used;  // the rows of the part that the op uses; none: all
  };
  // What does not depend on the values of an op on a rank. It is made when the op runs for the first time.
  struct PreparedCall {
    KernelCall call;  // its inputs are those of the last run
    std::vector<Operand> inputs, outputs;
  };
  PreparedCall& prepared(const Segment& s, const Op& op, int64_t rank) const;
  KernelCall describe(const Segment& s, const Op& op, int64_t rank) const;
  std::vector<int64_t> places(const Segment& s, Axis axis, std::vector<int64_t> rows) const;
  // The value of a symbol in the scope of a segment; 0 if the model lacks the size.
  int64_t size_in(const Segment& s, const char* symbol) const;
  int64_t norm_width(const Segment& s, const Op& op) const;
  void describe_attention(const Segment& s, const Op& op, KernelCall& call) const;
  void compute(const Segment& s, const Op& op, int64_t rank, std::vector<RealTensor>& v) const;
  std::vector<int64_t> tokens_of(const Segment& s, const Op& op, int64_t rank) const;
  std::vector<int64_t> arrived(const Segment& s, const Op& op, int64_t rank, KernelCall call) const;
  RealTensor take(const Segment& s, const Op& op, const RealTensor& in,
                  const std::vector<int64_t>& shape) const;
  RealTensor take_layer(const Segment& s, const Op& op, const RealTensor& in,
                        const std::vector<int64_t>& shape) const;
  void collective(const Segment& s, const Op& op, int stage, RankValues& values) const;

  mutable std::map<std::pair<const Op*, int64_t>, PreparedCall> prepared_;  // by op and rank
};

}  // namespace shardscape::test
