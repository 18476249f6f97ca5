#include "profile/profile_step.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "profile/device_time.h"
#include "profile/launches.h"
#include "profile/layer_ranges.h"

namespace shardscape {
namespace {

constexpr double kSecond = 1e9;  // nanoseconds

struct Window {
  int64_t begin = 0, end = 0;
  int64_t steps = 1;
  bool annotated = false;
  double host_fastest = 0, host_slowest = 0;
};

// The device with the most time in kernels.
int32_t busiest_device(const Profile& profile, int64_t& others) {
  std::map<int32_t, int64_t> time;
  for (const DeviceSpan& span : profile.spans) time[span.device] += span.end - span.begin;
  others = static_cast<int64_t>(time.size()) - 1;
  return std::max_element(time.begin(), time.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

std::vector<const HostSpan*> step_annotations(const Profile& profile) {
  std::vector<const HostSpan*> out;
  for (const HostSpan& span : profile.host)
    if (span.work == HostWork::Annotation && profile.name(span).starts_with("ProfilerStep#"))
      out.push_back(&span);
  return out;
}

// The steps on the device: from the first kernel that they launch to the last one's end. Where the device was
// idle when the first step began on the host, from there; where the host is still busy after the last kernel,
// until its end. So the window holds whole steps, whether the host or the device limits them.
std::optional<Window> annotated_window(const Profile& profile, const Launches& launches,
                                       const std::vector<TimedSpan>& spans) {
  const auto steps = step_annotations(profile);
  if (steps.empty()) return std::nullopt;
  Window out;
  out.annotated = true;
  out.steps = static_cast<int64_t>(steps.size());
  const int64_t host_begin = steps.front()->begin;
  int64_t host_end = steps.front()->end, shortest = INT64_MAX, longest = 0;
  for (const HostSpan* step : steps) {
    host_end = std::max(host_end, step->end);
    shortest = std::min(shortest, step->end - step->begin);
    longest = std::max(longest, step->end - step->begin);
  }
  out.host_fastest = static_cast<double>(shortest) / kSecond;
  out.host_slowest = static_cast<double>(longest) / kSecond;
  int64_t first = INT64_MAX, last = INT64_MIN;
  bool busy_at_begin = false;
  for (const TimedSpan& timed : spans) {
    const DeviceSpan& span = *timed.span;
    const HostSpan* call = launches.launch(span);
    const int64_t launched = call ? call->begin : span.begin;
    if (span.begin <= host_begin && span.end > host_begin) busy_at_begin = true;
    if (launched < host_begin || launched >= host_end) continue;
    first = std::min(first, span.begin);
    last = std::max(last, span.end);
  }
  if (first > last) return std::nullopt;
  out.begin = busy_at_begin ? first : std::min(first, host_begin);
  out.end = std::max(last, host_end);
  return out;
}

Window window_of(const Profile& profile, const Launches& launches, const std::vector<TimedSpan>& spans,
                 int64_t steps) {
  if (const auto found = annotated_window(profile, launches, spans); found && steps == 0) return *found;
  Window out;
  out.steps = std::max<int64_t>(1, steps);
  out.begin = spans.front().span->begin;
  for (const TimedSpan& timed : spans) out.end = std::max(out.end, timed.span->end);
  return out;
}

// Categories of spans. The rules look at each pair of a kernel and its op once.
class Categories {
 public:
  Categories(const Profile& profile, const Launches& launches)
      : profile_(profile), launches_(launches), optimizers_(launches.by_thread([&](const HostSpan& span) {
          return span.work != HostWork::Launch && profile.name(span).starts_with("Optimizer.step#");
        })) {}

  ProfileCategory of(const DeviceSpan& span) {
    if (span.work != DeviceWork::Kernel) return ProfileCategory::Copies;
    if (span.collective >= 0) {
      const auto collective = profiled_collective(profile_, span);
      return collective && collective->kind == CollectiveKind::SendRecv ? ProfileCategory::Messages
                                                                        : ProfileCategory::Collectives;
    }
    const HostSpan* call = launches_.launch(span);
    const HostSpan* op = launches_.op(span);
    const bool in_optimizer = call && Launches::around(optimizers_, *call);
    const auto [at, fresh] = known_.try_emplace({span.name, op ? int64_t{op->name} : -1, in_optimizer},
                                                ProfileCategory::Unknown);
    if (fresh)
      at->second = kernel_category(profile_.name(span), op ? profile_.name(*op) : std::string_view(),
                                   in_optimizer);
    return at->second;
  }

 private:
  const Profile& profile_;
  const Launches& launches_;
  Launches::Ranges optimizers_;
  std::map<std::tuple<uint32_t, int64_t, bool>, ProfileCategory> known_;  // by kernel, op, in_optimizer
};

// Nothing runs because the host is late if it had not returned from the launch when the gap began.
ProfileCategory gap_category(const Launches& launches, const std::vector<TimedSpan>& spans,
                             const DeviceGap& gap) {
  if (gap.next < 0) return ProfileCategory::LaunchGaps;
  const HostSpan* call = launches.launch(*spans[static_cast<size_t>(gap.next)].span);
  return call && call->end > gap.begin ? ProfileCategory::LaunchGaps : ProfileCategory::OtherIdle;
}

void add_kernels(const Profile& profile, const std::vector<TimedSpan>& spans, double per_step,
                 ProfiledStep& out) {
  std::unordered_map<uint32_t, size_t> rows;
  double known = 0, all = 0;
  for (const TimedSpan& timed : spans) {
    const auto [at, fresh] = rows.try_emplace(timed.span->name, out.kernels.size());
    if (fresh) out.kernels.push_back({profile.name(*timed.span), timed.category, 0, 0});
    KernelRow& row = out.kernels[at->second];
    row.seconds += static_cast<double>(timed.own) * per_step;
    row.calls += 1;
    const auto length = static_cast<double>(timed.span->end - timed.span->begin);
    all += length;
    if (timed.category != ProfileCategory::Unknown) known += length;
  }
  for (KernelRow& row : out.kernels) row.calls /= static_cast<double>(out.steps);
  std::sort(out.kernels.begin(), out.kernels.end(), [](const KernelRow& a, const KernelRow& b) {
    return a.seconds != b.seconds ? a.seconds > b.seconds : a.name < b.name;
  });
  out.classified = all > 0 ? known / all : 1;
}

void add_streams(const std::vector<TimedSpan>& spans, double per_step, ProfiledStep& out) {
  std::map<int32_t, StreamTotal> streams;
  for (const TimedSpan& timed : spans) {
    StreamTotal& total = streams[timed.span->stream];
    total.stream = timed.span->stream;
    total.busy += static_cast<double>(timed.span->end - timed.span->begin) * per_step;
    total.kernels += 1 / static_cast<double>(out.steps);
  }
  for (const auto& [stream, total] : streams) out.streams.push_back(total);
  std::stable_sort(out.streams.begin(), out.streams.end(),
                   [](const StreamTotal& a, const StreamTotal& b) { return a.busy > b.busy; });
}

void add_collectives(const Profile& profile, const std::vector<TimedSpan>& spans, double per_step,
                     ProfiledStep& out) {
  const double steps = static_cast<double>(out.steps);
  for (const TimedSpan& timed : spans) {
    const auto call = is_communication(timed.category) ? profiled_collective(profile, *timed.span)
                                                       : std::nullopt;
    if (!call) continue;
    const bool small = call->bytes && static_cast<double>(*call->bytes) <= kSmallCollective;
    CollectiveTotal& total = out.collectives[{call->kind, call->group_size, call->dtype, small}];
    total.calls += 1 / steps;
    if (call->bytes) {
      total.sized_calls += 1 / steps;
      total.elements += static_cast<double>(*call->elements) / steps;
      total.bytes += static_cast<double>(*call->bytes) / steps;
    }
    total.seconds += static_cast<double>(timed.span->end - timed.span->begin) * per_step;
    total.exposed += static_cast<double>(timed.own) * per_step;
  }
}

}  // namespace

Result<ProfiledStep> profiled_step(const Profile& profile, int64_t steps) {
  if (profile.spans.empty())
    return Problem(ProblemCode::ProfileFormat, profile.file, "the profile has no kernels of a GPU",
                   "a trace that was recorded with ProfilerActivity.CUDA");
  ProfiledStep out;
  out.device = busiest_device(profile, out.other_devices);
  const Launches launches(profile);
  Categories categories(profile, launches);
  std::vector<TimedSpan> spans;
  for (const DeviceSpan& span : profile.spans)
    if (span.device == out.device) spans.push_back({&span, categories.of(span), 0});
  const Window window = window_of(profile, launches, spans, steps);
  std::erase_if(spans, [&](const TimedSpan& timed) {
    return timed.span->end <= window.begin || timed.span->begin >= window.end;
  });
  out.steps = window.steps;
  out.annotated = window.annotated;
  out.host_fastest = window.host_fastest;
  out.host_slowest = window.host_slowest;
  const double per_step = 1 / kSecond / static_cast<double>(out.steps);
  const DeviceTime time = share_time(spans, window.begin, window.end);
  const auto add = [&](ProfileCategory category, int64_t nanoseconds) {
    out.categories[static_cast<size_t>(category)] += static_cast<double>(nanoseconds) * per_step;
  };
  int64_t exposed = 0;
  for (const TimedSpan& timed : spans) {
    add(timed.category, timed.own);
    if (is_communication(timed.category)) exposed += timed.own;
  }
  for (const DeviceGap& gap : time.gaps) add(gap_category(launches, spans, gap), gap.end - gap.begin);
  out.seconds = static_cast<double>(window.end - window.begin) * per_step;
  out.busy = static_cast<double>(time.busy) * per_step;
  out.communication = static_cast<double>(time.communication) * per_step;
  out.hidden = static_cast<double>(time.communication - exposed) * per_step;
  add_kernels(profile, spans, per_step, out);
  add_streams(spans, per_step, out);
  add_collectives(profile, spans, per_step, out);
  LayerTimes layers = layer_times(profile, launches, spans);
  out.layer_ranges = std::move(layers.ranges);
  out.layers = std::move(layers.layers);
  for (ProfiledLayer& layer : out.layers) {
    layer.forward *= per_step;
    layer.backward *= per_step;
  }
  return out;
}

}  // namespace shardscape
