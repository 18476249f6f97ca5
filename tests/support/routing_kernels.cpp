#include "support/routing_kernels.h"

#include <cmath>
#include <set>
#include <stdexcept>

namespace shardscape::test {
namespace {

double& at(RealTensor& t, int64_t i) { return t.data[static_cast<size_t>(i)]; }
double at(const RealTensor& t, int64_t i) { return t.data[static_cast<size_t>(i)]; }

class Router {
 public:
  explicit Router(const KernelCall& call) : c_(call) {
    for (const auto& shape : call.output_shapes) out_.emplace_back(shape);
  }

  std::vector<RealTensor> run() {
    const bool backward = c_.op.phase == Phase::Backward;
    switch (c_.op.kind) {
      case OpKind::Flatten:
      case OpKind::Unflatten: out_[0].data = c_.inputs[0]->data; break;
      case OpKind::SoftmaxTopK:
      case OpKind::SigmoidTopK: backward ? pick_backward() : pick(); break;
      case OpKind::DispatchNodes: backward ? from_nodes(0) : to_nodes(1); break;
      case OpKind::CombineNodes: backward ? to_nodes(0) : from_nodes(0); break;
      case OpKind::Dispatch: backward ? dispatch_backward() : dispatch(); break;
      default: backward ? combine_backward() : combine();
    }
    return std::move(out_);
  }

 private:
  const RealTensor& in(size_t i) const { return *c_.inputs[i]; }
  RealTensor* made(const std::string& suffix) {
    for (size_t i = 0; i < out_.size(); ++i)
      if (c_.output_names[i].find("." + suffix) != std::string::npos) return &out_[i];
    return nullptr;
  }
  const RealTensor* given(const std::string& suffix) const {
    for (size_t i = 0; i < c_.inputs.size(); ++i)
      if (c_.input_names[i].find("." + suffix) != std::string::npos) return c_.inputs[i];
    return nullptr;
  }
  int64_t choice(int64_t token, int64_t j) const {
    return chosen_expert(c_, c_.tokens[static_cast<size_t>(token)], j);
  }

  bool sigmoid() const { return c_.op.kind == OpKind::SigmoidTopK; }
  void pick() {
    const int64_t rows = in(0).shape[0], width = in(0).shape[1], k = c_.experts_per_token;
    const auto score = [&](int64_t u, int64_t n) {
      return sigmoid() ? 1 / (1 + std::exp(-at(in(0), u * width + n))) : std::exp(at(in(0), u * width + n));
    };
    for (int64_t u = 0; u < rows; ++u) {
      double sum = 0;
      for (int64_t j = 0; j < k; ++j) sum += score(u, choice(u, j));
      for (int64_t j = 0; j < k; ++j) at(out_[0], u * k + j) = score(u, choice(u, j)) / sum;
    }
    if (RealTensor* weights = made("weights")) weights->data = out_[0].data;
    if (RealTensor* scores = made("scores"))
      for (int64_t i = 0; i < rows * width; ++i) at(*scores, i) = score(i / width, i % width);
  }
  void pick_backward() {
    const RealTensor &g = in(0), *weights = given("weights"), *scores = given("scores");
    const int64_t rows = out_[0].shape[0], width = out_[0].shape[1], k = c_.experts_per_token;
    for (int64_t u = 0; u < rows; ++u) {
      double mean = 0, sum = 0;
      for (int64_t j = 0; j < k; ++j) {
        mean += at(g, u * k + j) * at(*weights, u * k + j);
        if (sigmoid()) sum += at(*scores, u * width + choice(u, j));
      }
      for (int64_t j = 0; j < k; ++j) {
        const double slope = at(g, u * k + j) - mean, w = at(*weights, u * k + j);
        const double s = sigmoid() ? at(*scores, u * width + choice(u, j)) : 0;
        at(out_[0], u * width + choice(u, j)) += sigmoid() ? slope / sum * s * (1 - s) : slope * w;
      }
    }
  }

  // Calls visit(token, choice, slot row) for every choice of a local expert. Choices fill slots in the order
  // of tokens.
  template <class Visit>
  void slots(const std::vector<int64_t>& shape, int64_t first_expert, Visit visit) const {
    std::vector<int64_t> filled(static_cast<size_t>(shape[0]), 0);
    for (size_t u = 0; u < c_.tokens.size(); ++u)
      for (int64_t j = 0; j < c_.experts_per_token && c_.tokens[u] >= 0; ++j) {
        const int64_t e = choice(static_cast<int64_t>(u), j) - first_expert;
        if (e < 0 || e >= shape[0]) continue;
        const int64_t slot = filled[static_cast<size_t>(e)]++;
        if (slot >= shape[1]) throw std::logic_error("an expert has too few slots");
        visit(static_cast<int64_t>(u), j, e * shape[1] + slot);
      }
  }
  static void add_row(RealTensor& to, int64_t row, const RealTensor& from, int64_t from_row, double factor) {
    const int64_t width = to.shape.back();
    for (int64_t d = 0; d < width; ++d) at(to, row * width + d) += factor * at(from, from_row * width + d);
  }
  static double dot(const RealTensor& a, int64_t row, const RealTensor& b, int64_t b_row) {
    double sum = 0;
    const int64_t width = a.shape.back();
    for (int64_t d = 0; d < width; ++d) sum += at(a, row * width + d) * at(b, b_row * width + d);
    return sum;
  }

  // Copies each token to each of its nodes; the reverse sums the results of the nodes.
  void to_nodes(size_t tokens) {
    visit_node_slots(c_, out_[0].shape[0], out_[0].shape[1],
                     [&](int64_t u, int64_t row) { add_row(out_[0], row, in(tokens), u, 1); });
  }
  void from_nodes(size_t copies) {
    visit_node_slots(c_, in(copies).shape[0], in(copies).shape[1],
                     [&](int64_t u, int64_t row) { add_row(out_[0], u, in(copies), row, 1); });
  }

  void dispatch() {
    slots(out_[0].shape, c_.output_starts[0][0],
          [&](int64_t u, int64_t, int64_t row) { add_row(out_[0], row, in(1), u, 1); });
  }
  void dispatch_backward() {
    slots(in(0).shape, c_.input_starts[0][0],
          [&](int64_t u, int64_t, int64_t row) { add_row(out_[0], u, in(0), row, 1); });
  }

  void combine() {
    const int64_t k = c_.experts_per_token;
    RealTensor *choices = made("choices"), *slot_weights = made("slot_weights"), *weights = made("weights"),
               *outputs = made("outputs");
    slots(in(0).shape, c_.input_starts[0][0], [&](int64_t u, int64_t j, int64_t row) {
      add_row(out_[0], u, in(0), row, at(in(1), u * k + j));
      if (choices) add_row(*choices, u * k + j, in(0), row, 1);
      if (slot_weights) at(*slot_weights, row) = at(in(1), u * k + j);
    });
    if (weights && weights != slot_weights) weights->data = in(1).data;
    if (outputs) outputs->data = in(0).data;
  }
  void combine_backward() {
    const int64_t k = c_.experts_per_token;
    const RealTensor *choices = given("choices"), *slot_weights = given("slot_weights"),
                     *weights = given("weights"), *outputs = given("outputs");
    // otherwise the saved results of the experts
    const RealTensor& rows = choices ? *choices : outputs ? *outputs : in(1);
    slots(out_[0].shape, c_.output_starts[0][0], [&](int64_t u, int64_t j, int64_t row) {
      add_row(out_[0], row, in(0), u, slot_weights ? at(*slot_weights, row) : at(*weights, u * k + j));
      at(out_[1], u * k + j) = dot(in(0), u, rows, choices ? u * k + j : row);
    });
  }

  const KernelCall& c_;
  std::vector<RealTensor> out_;
};

}  // namespace

int64_t chosen_expert(const KernelCall& call, int64_t token, int64_t j) {
  const int64_t k = call.experts_per_token / call.groups_per_token, groups = call.expert_groups,
                width = call.experts / groups;
  const int64_t nth = token * call.groups_per_token + j / k;
  return nth % groups * width + (nth / groups * k + j % k) % width;
}

void visit_node_slots(const KernelCall& call, int64_t nodes, int64_t slots,
                      const std::function<void(int64_t token, int64_t row)>& visit) {
  std::vector<int64_t> filled(static_cast<size_t>(nodes), 0);
  for (size_t u = 0; u < call.tokens.size(); ++u) {
    std::set<int64_t> wanted;
    for (int64_t j = 0; j < call.experts_per_token; ++j)
      wanted.insert(chosen_expert(call, call.tokens[u], j) / (call.experts / nodes));
    for (int64_t node : wanted) {
      const int64_t slot = filled[static_cast<size_t>(node)]++;
      if (slot >= slots) throw std::logic_error("a node has too few slots");
      visit(static_cast<int64_t>(u), node * slots + slot);
    }
  }
}

std::vector<RealTensor> run_routing(const KernelCall& call) { return Router(call).run(); }

}  // namespace shardscape::test
