// Assembles the forward of one segment: block templates become ops on placed tensors. Private to this folder.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/op_traits.h"
#include "graph/segment_builder.h"

namespace shardscape {

// The block with weights inside its experts (weigh_experts.cpp); nullopt: the block has no experts, or its
// lines are others than dispatch, activation, GEMM, possibly a bias, and combine.
std::optional<BlockTemplate> with_weighed_activations(const BlockTemplate& block);

using TensorNames = std::map<std::string, TensorId>;

class Assembler {
 public:
  // carries: of the architecture.
  Assembler(SegmentBuilder& builder, const ModelLibrary& library,
            const std::vector<CarriedTensor>& carries = {})
      : b_(builder), library_(library), carries_(carries) {}

  void run(const SectionTemplate& section, const SectionTemplate& mtp);
  void run_tower(const TowerTemplate& tower, const SectionTemplate& part);

 private:
  struct OpDraft;
  [[noreturn]] static void fail(ProblemCode code, const OpLine& line, const std::string& what,
                                const std::string& accepted);
  [[noreturn]] static void fail(ProblemCode code, const SourcePlace& place, const std::string& what,
                                const std::string& accepted);

  static std::string axes_text(const std::vector<Axis>& axes);

  TensorId constant(const std::string& name);
  // Adds the lines of a section and returns the result of the last one.
  TensorId add_lines(const std::vector<OpLine>& lines, TensorNames& names);
  // Gives the stream its placement and type between segments. line: names a wrong last line.
  TensorId to_stream(TensorId out, const OpLine& line);
  // Gives a result of the projector the placement and the type in which the language model reads it.
  TensorId image_tokens(TensorId made, const OpLine& line);
  // Replaces embedded tokens by the tokens of images.
  TensorId insert_images(TensorId stream, const OpLine& last);

  // Adds the carried tensors that the section reads, and afterwards those that it hands on.
  void read_carried(const SectionTemplate& section, TensorNames& names);
  void hand_on(const SectionTemplate& section, const TensorNames& names);

  // The tensor that an argument of the line names.
  static TensorId lookup(const OpLine& line, const TensorNames& names, size_t arg);

  // All that a line may call: blocks and ops.
  std::vector<std::string> callees() const;

  // The block, or its substitute in a model that lacks an axis, or its substitute in decode.
  const BlockTemplate* block_of(const OpLine& line) const;
  // The block as the kernel profile weighs the results of experts.
  const BlockTemplate* weighed(const BlockTemplate& block);

  // name: name of the block instance, and prefix of its parameters and tensors.
  TensorId call(const OpLine& line, const TensorNames& names, const std::string& name);

  TensorId parameter(const std::string& instance, const BlockParam& param);
  // The type of a parameter in memory. QLoRA stores the linear layers of blocks in 4 bits; embedding and head
  // stay as they are (transformers, get_keys_to_not_convert).
  DType parameter_type(const BlockParam& param) const;
  void index_in_cached_type(const OpLine& line, const BlockTemplate& block);
  // Data operands in the placement with the whole sequence (BlockTemplate::whole_sequence).
  void gather_sequence(std::vector<TensorId>& operands, const std::string& consumer);

  // TensorNames of the block's tensors that inference caches per token: as the block states, otherwise keys
  // and values.
  static std::vector<std::string> cached_names(const BlockTemplate& block);

  // The axis of the tokens that inference caches for the block's attention.
  Axis cached_tokens(const BlockTemplate& block) const;

  // The parts taken of a tensor lie one behind the other and must make up the whole tensor.
  void check_parts(const BlockTemplate& block, const TensorNames& inside);

  // Outputs that the profile packs share one storage; a saved view holds the whole storage.
  void pack(const TensorNames& made);

  // Axis of every letter, from the operands. Fails if a letter means two axes.
  std::map<char, Axis> letter_axes(const OpLine& line, const OpSpec& spec,
                                   const std::vector<TensorId>& operands);

  // The type of a GEMM with weights in quantized arithmetic; nullopt for any other op. Weights with a format
  // decide. Without one, GEMM precision holds for layers. Router logits, single-number gates and weights of
  // streams stay in full precision (Megatron-core's shared experts, vLLM's shared_expert_gate, DeepSeek-V4).
  // So do the projections that are compressed to keys of blocks (DeepSeek-V4).
  // So do decays and betas of linear attention (in_proj_ba of Qwen3-Next-80B-A3B-Instruct-FP8).
  std::optional<DType> quantized_type(const OpDraft& draft);
  // LoRA (Hu et al., arXiv 2106.09685, section 4.1): y + s B A x, for the result y of a GEMM whose weights
  // have an adapter; otherwise y. The factor s = alpha / rank costs one pointwise op, whatever its value.
  // block: of the line. operands: of the GEMM. instance, label: of block and GEMM.
  TensorId adapted(const BlockTemplate& block, const OpLine& line, const std::vector<TensorId>& operands,
                   TensorId result, const std::string& instance, const std::string& label,
                   RecomputeModules modules);
  // The parameter with a format among the operands of a GEMM; nullptr if there is none.
  const Param* formatted(OpKind kind, const std::vector<TensorId>& operands);
  // Gives the parameters of a block their formats, and the bytes that a rank stores.
  void store_weights(const BlockTemplate& block, const TensorNames& inside);

  // A weight is quantized once a step, outside of the graph. Data is quantized before a gather, so that fewer
  // bytes move; all GEMMs that read the tensor share the copy.
  TensorId quantized_operand(TensorId id, DType type, RecomputeModules modules);

  // Adds the ops of a line and returns their result. The steps follow in order.
  TensorId op(const OpLine& line, std::vector<TensorId> operands, const std::string& name,
              const std::string& label, RecomputeModules modules);
  // The profile's rule for the line. Fails if there is none, or if the rule saves operands that the line
  // lacks.
  const KernelRule& checked_rule(const OpLine& line, const std::vector<TensorId>& operands);
  void name_axes(OpDraft& draft);
  // The axis of a letter that only the result has: tokens are folded in the hidden size of a tower or in that
  // of the language model; a second unfolding makes the tokens of an image.
  Axis made_axis(const OpDraft& draft, size_t letter) const;
  // Redistributes the operands; sets the shards of every letter and the placement of the result.
  void place(OpDraft& draft, const std::string& label);
  // Attributes and label of an attention as this structure runs it: masks of decode, a ring.
  void adapt(AttentionAttributes& attention, std::string& label);
  // Whether the profile recomputes this output in the backward instead of saving it.
  bool recomputed_in_backward(const std::string& output);
  // Adds the outputs of the op: result, statistics or state, and softmax sums of a part of the context.
  TensorId add_result(const OpDraft& draft, Op& made);
  // The result in the placement that the following lines expect.
  TensorId in_expected_placement(const OpDraft& draft, TensorId out);

  // The weights in the type that a GEMM reads. Frozen weights in 4 bits are dequantized before every GEMM,
  // and again in the backward (bitsandbytes, autograd/_functions.py, MatMul4Bit); other tensors stay.
  TensorId dequantized(TensorId id);

  // Quantized GEMMs read slots that were quantized at the experts. With an FP8 dispatch, tokens are quantized
  // before they move (DeepSeek-V3, arXiv 2412.19437, section 3.3.3).
  TensorId to_experts(TensorId slots);

  static OpLine with(OpLine line, OpKind callee, std::vector<std::string> in, std::string out);
  static char unused_letter(const OpSpec& spec);

  // Dispatch in two steps (DeepSeek-V3, arXiv 2412.19437, section 3.2.2). A token goes once to each node that
  // has some of its experts, with its float32 routing weights (DeepEP), which the node needs for its sums.
  // The node then turns arrived tokens into slots of experts.
  TensorId dispatch_by_node(const OpLine& line, const OpSpec& spec, const std::vector<TensorId>& operands,
                            const std::string& name, const std::string& label, RecomputeModules modules);

  // The weights of the node's slots, from the weights that dispatch_by_node sent.
  TensorId dispatch_in_node(const OpLine& line, const OpSpec& spec, TensorId choices, const std::string& name,
                            const std::string& label, RecomputeModules modules);

  // Combine in two steps: a node sums the results of its experts per token; the rank that owns the token sums
  // over nodes.
  TensorId combine_by_node(const OpLine& line, const OpSpec& spec, const std::vector<TensorId>& operands,
                           const std::string& name, const std::string& label, RecomputeModules modules);

  // The axis whose size is the sum of the joined dimensions.
  Axis joined_axis(const OpLine& line, const std::vector<TensorId>& operands);

  static bool valid_attention_letters(const OpSpec& spec);
  static bool valid_index_letters(const OpSpec& spec);
  // Words and letters of an attention and of index_top_k.
  static void check_attention(const OpLine& line, const OpSpec& spec, OpFamily family);

  // Fails unless the letters of a linear scan fit its word.
  void check_linear_scan(const OpLine& line, const OpSpec& spec);

  // Letters of compress and split_heads.
  static void check_compression(const OpLine& line, OpKind kind, const OpSpec& spec);

  // A sum has the type of its widest operand, so that a wide residual stream stays wide.
  DType result_type(OpKind kind, const std::vector<TensorId>& operands);

  // The first letter that the result lacks and must have.
  static std::optional<char> wrongly_dropped(const OpSpec& spec, DroppedLetters drops);

  // Letters of the line. Fails unless the op takes this number of arguments, and each has letters.
  static OpSpec counted_spec(const OpLine& line, OpKind kind, size_t arguments);

  // Spec of the line with the attributes of the kind.
  OpSpec checked_spec(const OpLine& line, OpKind kind, size_t arguments);

  // Operands with the same Partial placement are added before the reduction, so that one reduction serves all
  // of them.
  bool sum_partial_operands(const OpSpec& spec, const std::vector<TensorId>& operands);

  void add_statistics(const OpDraft& draft, const KernelStat& stat, Op& op);

  SegmentBuilder& b_;
  const ModelLibrary& library_;
  const std::vector<CarriedTensor> carries_;
  TensorNames made_inside_;  // results inside of blocks that are carried, by the name of the carried tensor
  ModelPart part_ = ModelPart::Language;  // of the parameters that lines add
  std::map<const BlockTemplate*, std::optional<BlockTemplate>> weighed_;
  std::map<std::pair<TensorId, DType>, TensorId> quantized_;
  // Adapters whose matrices share A: input of the matrices -> result of A.
  std::map<TensorId, TensorId> packed_ranks_;
  // Type of the GEMMs of routed experts.
  DType type_at_experts() const;
  std::map<TensorId, TensorId> at_nodes_;  // choices of a token -> its routing weights at the receiving node
  // The same for choices that were dispatched; fails for others.
  TensorId at_nodes(const OpLine& line, TensorId choices) const;
};

// A line of a block template while its op is built.
struct Assembler::OpDraft {
  const OpLine& line;
  const std::string& name;
  OpKind kind;
  OpSpec spec;
  const KernelRule& rule;
  std::vector<TensorId> operands;
  std::map<char, Axis> axes{};  // of every letter
  std::vector<Axis> out_axes{};
  LetterShards shards{};
  Placement placement{};  // of the result

  // Whether ranks hold parts of the context. Their results are then merged.
  bool splits_context() const {
    return op_traits(kind).family == OpFamily::Attention && !shards.at(attention_values(spec)[1]).empty();
  }
};

}  // namespace shardscape
