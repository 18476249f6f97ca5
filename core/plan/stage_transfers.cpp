#include "plan/stage_transfers.h"

#include "graph/carried_tensors.h"
#include "graph/stage_symbols.h"
#include "plan/stage_boundary.h"

namespace shardscape {
namespace {

class Transfers {
 public:
  Transfers(const Graph& graph, ModelStart first, bool last)
      : graph_(graph), s_(graph.structure), first_(first), last_(last) {}

  std::vector<TransferRow> run() {
    const StageBoundary boundary = stage_boundary(graph_);
    if (s_.vision_stage)
      with_images(boundary);
    else
      of_stream(boundary);
    return std::move(out_);
  }

 private:
  Expr microbatches() const { return chunk_microbatches(s_); }

  // Every chunk sends the residual stream forward and its gradient backward, once per microbatch. The first
  // chunk of the model sends only the stream, the last chunk only the gradient.
  void of_stream(const StageBoundary& boundary) {
    static const Expr chunks{Symbol::intern("v")};
    const int64_t ends = (last_ ? 1 : 0) + (first_ ? 1 : 0);
    const ChunkLayout layout = s_.layout;
    if (ends == 2 && layout == ChunkLayout::Round) return;
    if (!s_.trains()) {  // forward only
      if (!last_) message(true, microbatches(), microbatches() * vectors(true), boundary);
      if (!first_) message(false, microbatches(), microbatches() * vectors(false), boundary);
      if (!first_) gathered(microbatches(), boundary);
      return;
    }
    const Expr held = layout == ChunkLayout::BothWays ? Expr(2) : s_.interleaved ? chunks : Expr(1);
    const Expr count = microbatches() *
                       (layout == ChunkLayout::Vee ? Expr(messages_symbol()) : Expr(2) * held - Expr(ends));
    // The stream goes one way and its gradient the other way.
    const Expr vectors_moved = s_.vectors > 0 ? microbatches() * ((last_ ? Expr() : vectors(true)) +
                                                                  (first_ ? Expr() : vectors(false)))
                                              : count;
    for (const bool sends : {true, false}) message(sends, count, vectors_moved, boundary);
    gathered(count, boundary);
  }

  // A tower on a stage of its own sends the tokens of images to the stage with the embedding, and receives
  // their gradient unless the tower is frozen. Stages have one virtual stage each.
  void with_images(const StageBoundary& boundary) {
    const bool trains = s_.trains(), tower = first_.tower_alone(), embedding = first_.embedding_alone();
    // Messages of the stream to the next stage and from the previous one; gradients go the other way.
    const bool next = !last_ && !tower, previous = !first_;
    for (const bool sends : {true, false}) {
      const bool behind = sends ? next : trains && next, ahead = sends ? trains && previous : previous;
      if (!behind && !ahead) continue;
      const Expr count = microbatches() * Expr((behind ? 1 : 0) + (ahead ? 1 : 0));
      const Expr moved = (behind ? vectors(true) : Expr()) + (ahead ? vectors(false) : Expr());
      message(sends, count, microbatches() * moved, boundary);
      if (!sends) gathered(count, boundary);
    }
    if (!tower && !embedding) return;
    image_tokens(tower);
    if (trains && !s_.frozen_tower) image_tokens(embedding);
  }

  void image_tokens(bool sends) {
    static const Expr stages{Symbol::intern("pp")};
    const Tensor& tokens = image_message(graph_);
    add(sends ? CommOp::send() : CommOp::receive(), "pp", stages, tokens.dtype, microbatches(),
        microbatches() * image_message_bytes(graph_) / Expr(dtype_bytes(tokens.dtype)));
  }

  // Parts of the stream per token in a message, each of the size of the boundary's tensor.
  Expr vectors(bool sent) const {
    if (s_.vectors == 0) return Expr(1);
    return Expr(sent ? vectors_sent_symbol() : vectors_received_symbol());
  }

  // moved: messages times their vectors. Carried tensors travel with the stream, and count in its type.
  // sends: the messages are sent, not received.
  void message(bool sends, const Expr& count, const Expr& moved, const StageBoundary& boundary) {
    static const Expr stages{Symbol::intern("pp")};
    Expr elements = moved * local_elements(boundary.message);
    for (int i = 0; i < std::ssize(made_carried(graph_)); ++i) {
      const Expr sent(carried_sent_symbol(i)), received(carried_received_symbol(i));
      elements += microbatches() *
                  ((sends ? sent : received) * carried_bytes(graph_, 1 << i) +
                   (sends ? received : sent) * carried_bytes(graph_, 1 << i, true)) /
                  Expr(dtype_bytes(boundary.message.dtype));
    }
    add(sends ? CommOp::send() : CommOp::receive(), "pp", stages, boundary.message.dtype, count, elements);
  }

  // The all-gather of messages that were scattered over tp.
  void gathered(const Expr& count, const StageBoundary& boundary) {
    if (boundary.gathered.empty()) return;
    add(CollectiveKind::AllGather, group_name(boundary.gathered), group_size(s_, boundary.gathered),
        boundary.stream.dtype, count, count * local_elements(boundary.stream));
  }

  void add(CommOp op, const std::string& group, const Expr& size, DType dtype, const Expr& count,
           const Expr& elements) {
    out_.push_back({op, group, size, dtype, count, elements});
  }

  const Graph& graph_;
  const Structure& s_;
  const ModelStart first_;
  const bool last_;
  std::vector<TransferRow> out_;
};

}  // namespace

Expr chunk_microbatches(const Structure& structure) {
  static const Expr m{Symbol::intern("m")};
  return structure.layout == ChunkLayout::BothWays ? m / Expr(2) : m;
}

std::vector<TransferRow> stage_transfers(const Graph& graph, ModelStart first, bool last) {
  return Transfers(graph, first, last).run();
}

}  // namespace shardscape
