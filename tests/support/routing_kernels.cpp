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
      case OpKind::SigmoidTopK:
      case OpKind::ScoreTopK:
      case OpKind::TableTopK: backward ? pick_backward() : pick(); break;
      case OpKind::ExpertScale: expert_scale(c_.op.grad != GradRole::None); break;
      case OpKind::WeighTokens: backward ? weigh_backward(false) : weigh(false); break;
      case OpKind::IdentityExperts: backward ? weigh_backward(true) : weigh(true); break;
      case OpKind::CombineSum: backward ? sum_backward() : sum(); break;
      case OpKind::DispatchNodes: backward ? from_nodes(0) : to_nodes(1); break;
      case OpKind::CombineNodes: backward ? to_nodes(0) : from_nodes(0); break;
      case OpKind::DispatchWeights: backward ? weights_backward() : weights(); break;
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

  RouterAttributes scores() const {
    const RouterAttributes* own = router_of(c_.op);
    return own ? *own : RouterAttributes{.sigmoid = c_.op.kind == OpKind::SigmoidTopK};
  }
  double score(double x) const {
    if (scores().sigmoid) return 1 / (1 + std::exp(-x));
    return scores().sqrt_softplus ? std::sqrt(std::log1p(std::exp(x))) : std::exp(x);
  }
  bool softmax() const { return !scores().sigmoid && !scores().sqrt_softplus; }
  // The slope of a score that is no softmax.
  double slope(double s) const { return scores().sigmoid ? s * (1 - s) : (1 - std::exp(-s * s)) / (2 * s); }

  void pick() {
    const int64_t rows = in(0).shape[0], width = in(0).shape[1], k = c_.experts_per_token;
    if (c_.op.kind == OpKind::TableTopK && (in(1).shape[1] != k || in(2).elements() != rows))
      throw std::logic_error("the table of experts does not fit the tokens");
    RealTensor *weights = made("weights"), *saved = made("scores");
    for (int64_t u = 0; u < rows; ++u) {
      const auto of = [&](int64_t n) { return score(at(in(0), u * width + n)); };
      double sum = 0;
      for (int64_t j = 0; j < k && !scores().raw; ++j) sum += of(choice(u, j));
      for (int64_t n = 0; n < width && scores().raw && softmax(); ++n) sum += of(n);
      if (scores().raw && !softmax()) sum = 1;
      for (int64_t j = 0; j < k; ++j) at(out_[0], u * k + j) = of(choice(u, j)) / sum;
      for (int64_t n = 0; n < width && saved; ++n)
        at(*saved, u * width + n) = of(n) / (scores().raw && softmax() ? sum : 1);
    }
    if (weights) weights->data = out_[0].data;
  }
  void pick_backward() {
    const RealTensor &g = in(0), *weights = given("weights"), *saved = given("scores");
    const int64_t rows = out_[0].shape[0], width = out_[0].shape[1], k = c_.experts_per_token;
    const auto saved_score = [&](int64_t u, int64_t n) { return at(*saved, u * width + n); };
    for (int64_t u = 0; u < rows; ++u) {
      double mean = 0, sum = scores().raw ? 1 : 0;
      for (int64_t j = 0; j < k; ++j) {
        mean += at(g, u * k + j) * at(*weights, u * k + j);
        if (!softmax() && !scores().raw) sum += saved_score(u, choice(u, j));
      }
      for (int64_t j = 0; j < k; ++j) {
        const int64_t n = choice(u, j);
        const double pull = at(g, u * k + j) - (softmax() || !scores().raw ? mean : 0);
        at(out_[0], u * width + n) += softmax()
                                          ? (scores().raw ? at(g, u * k + j) : pull) * at(*weights, u * k + j)
                                          : pull / sum * slope(saved_score(u, n));
      }
      // A softmax over all experts also lowers the scores of those that were not picked.
      for (int64_t n = 0; n < width && scores().raw && softmax(); ++n)
        at(out_[0], u * width + n) -= mean * saved_score(u, n);
    }
  }

  // Weights of choices [batch, sequence, choices] times the numbers of their experts.
  void expert_scale(bool backward) {
    const RealTensor &weights = in(backward ? 1 : 0), &numbers = in(backward ? 2 : 1);
    const int64_t k = weights.shape[2], tokens = weights.shape[1];
    const size_t operand = backward ? 1 : 0;
    for (int64_t i = 0; i < weights.elements(); ++i) {
      const int64_t b = c_.input_starts[operand][0] + i / (tokens * k);
      const int64_t token = b * c_.sequence_stride +
                            c_.input_positions[operand][static_cast<size_t>(i / k % tokens)];
      const int64_t expert = chosen_expert(c_, token, i % k);
      at(out_[0], i) = at(in(0), i) * at(numbers, expert);
      if (backward) at(out_[1], expert) += at(in(0), i) * at(weights, i);
    }
  }

  // The sum of the weights of a token's choices, or of those that are experts which compute nothing.
  double weight(const RealTensor& weights, int64_t u, bool of_zero) const {
    double sum = 0;
    for (int64_t j = 0; j < c_.experts_per_token; ++j)
      if (!of_zero || returns_input(u, j)) sum += at(weights, u * c_.experts_per_token + j);
    return sum;
  }
  bool returns_input(int64_t u, int64_t j) const { return choice(u, j) >= c_.experts - c_.zero_experts; }
  void weigh(bool of_zero) {
    for (int64_t u = 0; u < in(1).shape[0]; ++u) add_row(out_[0], u, in(1), u, weight(in(0), u, of_zero));
  }
  void weigh_backward(bool of_zero) {  // g, weights, tokens
    for (int64_t u = 0; u < in(2).shape[0]; ++u) {
      add_row(out_[1], u, in(0), u, weight(in(1), u, of_zero));
      for (int64_t j = 0; j < c_.experts_per_token; ++j)
        if (!of_zero || returns_input(u, j))
          at(out_[0], u * c_.experts_per_token + j) = dot(in(0), u, in(2), u);
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

  void weights() {
    slots(out_[0].shape, c_.output_starts[0][0], [&](int64_t u, int64_t j, int64_t row) {
      at(out_[0], row) = at(in(0), u * c_.experts_per_token + j);
    });
  }
  void weights_backward() {
    slots(in(0).shape, c_.input_starts[0][0], [&](int64_t u, int64_t j, int64_t row) {
      at(out_[0], u * c_.experts_per_token + j) = at(in(0), row);
    });
  }

  void combine() {
    const int64_t k = c_.experts_per_token;
    RealTensor *choices = made("choices"), *slot_weights = made("slot_weights"), *weights = made("weights"),
               *outputs = made("outputs"), *permuted = made("permuted");
    slots(in(0).shape, c_.input_starts[0][0], [&](int64_t u, int64_t j, int64_t row) {
      add_row(out_[0], u, in(0), row, at(in(1), u * k + j));
      if (choices) add_row(*choices, u * k + j, in(0), row, 1);
      if (slot_weights) at(*slot_weights, row) = at(in(1), u * k + j);
    });
    if (weights && weights != slot_weights) weights->data = in(1).data;
    if (outputs) outputs->data = in(0).data;
    if (permuted) permuted->data = in(0).data;
  }
  void sum() {
    slots(in(0).shape, c_.input_starts[0][0],
          [&](int64_t u, int64_t, int64_t row) { add_row(out_[0], u, in(0), row, 1); });
  }
  void sum_backward() {
    slots(out_[0].shape, c_.output_starts[0][0],
          [&](int64_t u, int64_t, int64_t row) { add_row(out_[0], row, in(0), u, 1); });
  }
  void combine_backward() {
    const int64_t k = c_.experts_per_token;
    const RealTensor *choices = given("choices"), *slot_weights = given("slot_weights"),
                     *weights = given("weights"), *outputs = given("outputs"), *permuted = given("permuted");
    // otherwise the saved results of the experts
    const RealTensor& rows = choices ? *choices : outputs ? *outputs : permuted ? *permuted : in(1);
    if (!choices && rows.elements() != out_[0].elements())
      throw std::runtime_error("the gradient of the weights needs the results of the experts");
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
