#include "profile/event_reader.h"

#include <simdjson.h>

#include <array>
#include <cmath>
#include <unordered_map>

#include "profile/trace_splitter.h"

namespace shardscape {
namespace {

using Value = simdjson::dom::element;
static_assert(kSplitterPadding >= simdjson::SIMDJSON_PADDING);

constexpr double kLatest = 4e15;  // microseconds: 126 years, so that nanoseconds fit into 63 bits
constexpr std::string_view kModule = "nn.Module: ";

enum class EventCategory : uint8_t { None, Kernel, Copy, Fill, Op, Launch, Annotation, Python };

// Names of categories. Before 2022, the profiler wrote the capitalized ones.
EventCategory category_of(std::string_view text) {
  static const std::unordered_map<std::string_view, EventCategory> table{
      {"kernel", EventCategory::Kernel},
      {"Kernel", EventCategory::Kernel},
      {"gpu_memcpy", EventCategory::Copy},
      {"Memcpy", EventCategory::Copy},
      {"gpu_memset", EventCategory::Fill},
      {"Memset", EventCategory::Fill},
      {"cpu_op", EventCategory::Op},
      {"Operator", EventCategory::Op},
      {"cuda_runtime", EventCategory::Launch},
      {"Runtime", EventCategory::Launch},
      {"cuda_driver", EventCategory::Launch},
      {"hip_runtime", EventCategory::Launch},
      {"hip_driver", EventCategory::Launch},
      {"user_annotation", EventCategory::Annotation},
      {"python_function", EventCategory::Python}};
  const auto at = table.find(text);
  return at == table.end() ? EventCategory::None : at->second;
}

std::string_view text_of(Value value) {
  std::string_view text;
  return value.get(text) ? std::string_view() : text;
}
double number_of(Value value, double missing) {
  double number = 0;
  return value.get(number) ? missing : number;
}
int64_t integer_of(Value value, int64_t missing) {
  int64_t number = 0;
  if (!value.get(number)) return number;
  const std::string_view text = text_of(value);  // some versions write numbers as texts
  if (text.empty() || text.size() > 18) return missing;
  for (const char c : text) {
    if (c < '0' || c > '9') return missing;
    number = number * 10 + (c - '0');
  }
  return number;
}
// An id or a small number that must be countable.
int32_t small_of(Value value) {
  return static_cast<int32_t>(std::clamp<int64_t>(integer_of(value, 0), -1, INT32_MAX));
}

bool keeps_inputs(std::string_view op) {
  for (const std::string_view part : {"mm", "bmm", "attention", "flash_attn", "linear", "matmul"})
    if (op.find(part) != std::string_view::npos) return true;
  return false;
}

// The fields of an event in the order in which the reader needs them, whatever their order in the file.
struct Fields {
  std::string_view category, name, phase;
  double begin = NAN, duration = NAN;
  Value args, thread;
  bool has_args = false, has_thread = false;
};

}  // namespace

struct EventReader::State {
  Profile& profile;
  simdjson::dom::parser parser;
  std::unordered_map<std::string, uint32_t> names, threads;
  std::unordered_map<int64_t, int32_t> comms;  // by External id of the host op: index into collectives
  double durations = 0;                        // microseconds of all events

  explicit State(Profile& into) : profile(into) {}

  uint32_t name_index(std::string_view name) {
    const auto [at, fresh] = names.try_emplace(std::string(name), static_cast<uint32_t>(names.size()));
    if (fresh) profile.names.emplace_back(name);
    return at->second;
  }
  uint32_t thread_index(const Fields& fields) {
    std::string key = fields.has_thread ? simdjson::minify(fields.thread) : std::string();
    std::erase(key, '"');
    return threads.try_emplace(std::move(key), static_cast<uint32_t>(threads.size())).first->second;
  }
  // Index of the arguments; -1: the event has none.
  int32_t collective(const Fields& fields) {
    constexpr size_t kLongestName = 200;  // kernels look at it again and again
    CollectiveArguments c;
    if (!fields.has_args) return -1;
    for (const auto field : simdjson::dom::object(fields.args)) {
      if (field.key == "Collective name") c.name = text_of(field.value).substr(0, kLongestName);
      if (field.key == "dtype") c.dtype = text_of(field.value);
      if (field.key == "In msg nelems") c.in_elements = integer_of(field.value, -1);
      if (field.key == "Out msg nelems") c.out_elements = integer_of(field.value, -1);
      if (field.key == "Group size") c.group_size = integer_of(field.value, 0);
      if (field.key == "Process Group Name") c.group = text_of(field.value);
      if (field.key == "Process Group Description") c.group_meaning = text_of(field.value);
      if (field.key == "Process Group Ranks") c.ranks = text_of(field.value);
    }
    if (c.name.empty()) return -1;
    profile.collectives.push_back(std::move(c));
    return static_cast<int32_t>(profile.collectives.size()) - 1;
  }
  void add_device(const Fields& fields, DeviceWork work);
  void add_host(const Fields& fields, HostWork work);
  std::optional<OpInputs> inputs_of(const Fields& fields);
};

EventReader::EventReader(Profile& profile) : state_(std::make_unique<State>(profile)) {}
EventReader::~EventReader() = default;

namespace {

int64_t nanoseconds(double microseconds) { return std::llround(microseconds * 1000); }

Fields fields_of(simdjson::dom::object event) {
  Fields out;
  for (const auto field : event) {
    if (field.key == "cat") out.category = text_of(field.value);
    if (field.key == "name") out.name = text_of(field.value);
    if (field.key == "ph") out.phase = text_of(field.value);
    if (field.key == "ts") out.begin = number_of(field.value, NAN);
    if (field.key == "dur") out.duration = number_of(field.value, NAN);
    if (field.key == "tid") {
      out.thread = field.value;
      out.has_thread = true;
    }
    if (field.key == "args" && field.value.is_object()) {
      out.args = field.value;
      out.has_args = true;
    }
  }
  return out;
}

// Differences of two times, and sums of all durations, fit into 63 bits of nanoseconds, too.
bool usable(const Fields& f, double durations) {
  constexpr double kEarliest = -1e12;  // microseconds
  return f.begin >= kEarliest && f.begin <= kLatest && f.duration >= 0 &&
         f.duration <= kLatest - durations;  // false for NaN
}

}  // namespace

std::optional<OpInputs> EventReader::State::inputs_of(const Fields& fields) {
  OpInputs out;
  for (const auto field : simdjson::dom::object(fields.args)) {
    simdjson::dom::array list;
    if (field.key != "Input Dims" && field.key != "Input type" && field.key != "Concrete Inputs") continue;
    if (field.value.get(list)) continue;
    for (const Value item : list) {
      if (field.key == "Input type") out.types.emplace_back(text_of(item));
      if (field.key == "Concrete Inputs") out.values.emplace_back(text_of(item));
      if (field.key != "Input Dims") continue;
      out.shapes.emplace_back();
      simdjson::dom::array sizes;
      if (item.get(sizes)) continue;
      for (const Value size : sizes) out.shapes.back().push_back(integer_of(size, -1));
    }
  }
  if (out.shapes.empty()) return std::nullopt;
  return out;
}

void EventReader::State::add_device(const Fields& fields, DeviceWork work) {
  DeviceSpan span;
  span.begin = nanoseconds(fields.begin);
  span.end = span.begin + nanoseconds(fields.duration);
  span.name = name_index(fields.name);
  span.work = work;
  if (fields.has_args) {
    for (const auto field : simdjson::dom::object(fields.args)) {
      if (field.key == "stream") span.stream = small_of(field.value);
      if (field.key == "device") span.device = small_of(field.value);
      if (field.key == "correlation") span.correlation = integer_of(field.value, -1);
      if (field.key == "External id" || field.key == "external id") span.op = integer_of(field.value, -1);
      if (field.key == "bytes") span.bytes = integer_of(field.value, -1);
    }
  }
  if (work == DeviceWork::Kernel) span.collective = collective(fields);
  profile.spans.push_back(span);
}

void EventReader::State::add_host(const Fields& fields, HostWork work) {
  HostSpan span;
  span.begin = nanoseconds(fields.begin);
  span.end = span.begin + nanoseconds(fields.duration);
  span.work = work;
  span.name = name_index(work == HostWork::Module ? fields.name.substr(kModule.size()) : fields.name);
  span.thread = thread_index(fields);
  if (fields.has_args) {
    for (const auto field : simdjson::dom::object(fields.args)) {
      if (field.key == (work == HostWork::Launch ? "correlation" : "External id"))
        span.id = integer_of(field.value, -1);
      if (field.key == "Sequence number") span.sequence = integer_of(field.value, -1);
      if (field.key == "Fwd thread id") span.backward = integer_of(field.value, 0) > 0;
    }
  }
  if (work == HostWork::Op && fields.name == "record_param_comms") {
    span.collective = collective(fields);
    if (span.collective >= 0 && span.id >= 0) comms.emplace(span.id, span.collective);
  }
  if (work == HostWork::Op && fields.has_args && keeps_inputs(fields.name)) {
    if (auto inputs = inputs_of(fields)) {
      span.inputs = static_cast<int32_t>(profile.inputs.size());
      profile.inputs.push_back(std::move(*inputs));
    }
  }
  profile.host.push_back(span);
}

std::string EventReader::event(std::string_view text) {
  State& s = *state_;
  ++s.profile.events;
  simdjson::dom::object object;
  if (const auto error = s.parser.parse(text.data(), text.size(), false).get(object))
    return std::string("the event is no valid JSON: ") + simdjson::error_message(error);
  const Fields fields = fields_of(object);
  const EventCategory category = category_of(fields.category);
  if (category == EventCategory::None || (fields.phase != "X" && !fields.phase.empty())) return {};
  if (category == EventCategory::Python && !fields.name.starts_with(kModule)) return {};
  if (!usable(fields, s.durations)) {
    ++s.profile.skipped;
    return {};
  }
  s.durations += fields.duration;
  switch (category) {
    case EventCategory::Kernel: s.add_device(fields, DeviceWork::Kernel); break;
    case EventCategory::Copy: s.add_device(fields, DeviceWork::Copy); break;
    case EventCategory::Fill: s.add_device(fields, DeviceWork::Fill); break;
    case EventCategory::Op: {
      // Before 2022, annotations were ops with names of their own.
      const bool step = fields.name.starts_with("ProfilerStep#");
      s.add_host(fields, step ? HostWork::Annotation : HostWork::Op);
      break;
    }
    case EventCategory::Launch: s.add_host(fields, HostWork::Launch); break;
    case EventCategory::Annotation: s.add_host(fields, HostWork::Annotation); break;
    case EventCategory::Python: s.add_host(fields, HostWork::Module); break;
    case EventCategory::None: break;
  }
  return {};
}

bool EventReader::wants(std::string_view key) {
  return key == "distributedInfo" || key == "deviceProperties";
}

std::string EventReader::member(std::string_view key, std::string_view text) {
  State& s = *state_;
  Value value;
  if (const auto error = s.parser.parse(text.data(), text.size(), false).get(value))
    return "\"" + std::string(key) + "\" is no valid JSON: " + simdjson::error_message(error);
  if (key == "distributedInfo") {
    if (Value found; !value["rank"].get(found)) {
      if (const int64_t rank = integer_of(found, -1); rank >= 0) s.profile.rank = rank;
    }
    if (Value found; !value["world_size"].get(found)) {
      if (const int64_t ranks = integer_of(found, 0); ranks > 0) s.profile.ranks = ranks;
    }
  }
  if (simdjson::dom::array devices; key == "deviceProperties" && !value.get(devices)) {
    s.profile.devices = static_cast<int64_t>(devices.size());
    if (std::string_view name; !devices.at(0)["name"].get(name)) s.profile.device = name;
  }
  return {};
}

void EventReader::finish() {
  State& s = *state_;
  for (DeviceSpan& span : s.profile.spans) {
    if (span.collective >= 0 || span.work != DeviceWork::Kernel) continue;
    const auto at = s.comms.find(span.op);
    if (at != s.comms.end()) span.collective = at->second;
  }
}

}  // namespace shardscape
