#include "chakra/step_window.h"

#include <algorithm>
#include <utility>

#include "chakra/program_builder.h"

namespace shardscape {
namespace {

// Durations are whole microseconds, and a first node without duration stops ASTRA-sim.
constexpr double kLeastHostSeconds = 2e-6;

class WindowLowering {
 public:
  WindowLowering(RankProgram& program, bool pipeline)
      : program_(program), builder_(program), pipeline_(pipeline) {}

  // The work of the host before a step. Without a pipeline it begins when the step before has ended,
  // collectives included.
  void add_host(const WindowStep& step) {
    if (step.host_seconds < kLeastHostSeconds) return;
    program_.ops.push_back({.name = "host", .num_ops = 1, .tensor_size = 1, .seconds = step.host_seconds});
    builder_.begin_action("host");
    if (!pipeline_) builder_.depend(static_cast<uint32_t>(program_.nodes.size()));
    builder_.add(static_cast<uint32_t>(program_.ops.size() - 1), static_cast<int32_t>(step.number), -1, 0);
  }

  // The builder fixes the order of execution again, so that it goes on from step to step.
  void append(const RankProgram& step, int64_t number) {
    const auto ops = static_cast<uint32_t>(program_.ops.size()),
               nodes = static_cast<uint32_t>(program_.nodes.size());
    int32_t messages = 0;
    program_.ops.insert(program_.ops.end(), step.ops.begin(), step.ops.end());
    builder_.begin_action("forward");
    for (const TraceNode& node : step.nodes) {
      for (const uint32_t id : step.data_deps(node)) builder_.depend(nodes + id);
      const int32_t message = node.message < 0 ? -1 : messages_ + node.message;
      messages = std::max(messages, node.message + 1);
      builder_.add(ops + node.op, static_cast<int32_t>(number), node.layer, node.position, node.chunk,
                   message);
    }
    messages_ += messages;
  }

 private:
  RankProgram& program_;
  ProgramBuilder builder_;
  bool pipeline_;
  int32_t messages_ = 0;  // of rings, in the steps so far
};

}  // namespace

StepWindow::StepWindow(int64_t replica, std::vector<WindowStep> steps)
    : replica_(replica), steps_(std::move(steps)) {
  // The forward with most of what a rank's numbers depend on: only prompts have rings, and positions in them.
  const auto peers = [](const Lowering& of) {
    return std::pair(ring_axes(of.report().graph().structure).size(), of.positions());
  };
  std::shared_ptr<Lowering> reference = steps_.front().forward;
  for (const WindowStep& step : steps_)
    if (peers(*step.forward) > peers(*reference)) reference = step.forward;
  for (const WindowStep& step : steps_)
    for (const auto& of : {step.forward, step.head}) reference->add_roles(*of);
  for (const WindowStep& step : steps_)
    for (const auto& of : {step.forward, step.head}) of->take_roles(*reference);
  reference_ = std::move(reference);
}

double StepWindow::seconds() const {
  return steps_.back().begin + steps_.back().seconds - steps_.front().begin;
}

RankProgram StepWindow::stage(int stage, bool tensors, std::stop_token stop, int64_t position) const {
  RankProgram out;
  out.stage = stage;
  out.ring_position = position;
  out.roles = static_cast<int>(reference_->roles().size());
  out.chunks = reference_->schedule().chunks;
  out.tensors = tensors;
  out.pass = "step";
  WindowLowering window(out, reference_->report().stages.size() > 1);
  for (const WindowStep& step : steps_) {
    if (stop.stop_requested()) break;
    if (stage == 0) window.add_host(step);
    const int64_t of_class = std::min(position, step.forward->positions() - 1);
    window.append(step.forward->stage(stage, tensors, stop, of_class, {step.head.get(), step.scale}),
                  step.number);
  }
  write_durations(out);
  return out;
}

}  // namespace shardscape
