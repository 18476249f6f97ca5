#include <cstdio>
#include <nlohmann/json.hpp>

#include "simulate/time_report.h"

namespace shardscape {
namespace {

// Microseconds; the fraction to a picosecond.
std::string microseconds(double seconds) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6f", seconds * 1e6);
  return text;
}

std::string quoted(const std::string& text) { return nlohmann::json(text).dump(); }

class Writer {
 public:
  explicit Writer(const Simulation& simulation) : s_(simulation) {}

  std::string write(const std::string& title) {
    out_ = "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"title\":" + quoted(title) + ",\"machine\":" + quoted(s_.machine.accelerator ? s_.machine.accelerator->id : "") +
           "},\"traceEvents\":[";
    for (size_t stage = 0; stage < s_.stages.size(); ++stage) {
      metadata(stage, -1, "process_name", "stage " + std::to_string(stage));
      bool used[kStreamKindCount] = {};
      for (const Span& span : s_.stages[stage].spans) used[static_cast<int>(span.stream)] = true;
      for (int stream = 0; stream < kStreamKindCount; ++stream)
        if (used[stream]) metadata(stage, stream, "thread_name", std::string(stream_label(static_cast<StreamKind>(stream))));
      for (const Span& span : s_.stages[stage].spans) this->span(stage, span);
    }
    return out_ + "\n]}\n";
  }

 private:
  void event(const std::string& fields) {
    out_ += (first_ ? "\n{" : ",\n{") + fields + "}";
    first_ = false;
  }

  static std::string place(size_t stage, int stream) { return "\"pid\":" + std::to_string(stage) + (stream < 0 ? "" : ",\"tid\":" + std::to_string(stream)); }

  void metadata(size_t stage, int stream, const char* what, const std::string& name) {
    event(std::string("\"ph\":\"M\",\"name\":\"") + what + "\"," + place(stage, stream) + ",\"args\":{\"name\":" + quoted(name) + "}");
  }

  void span(size_t stage, const Span& span) {
    const int stream = static_cast<int>(span.stream);
    std::string args = std::string("\"critical\":") + (span.critical ? "true" : "false");
    if (span.microbatch >= 0) args += ",\"microbatch\":" + std::to_string(span.microbatch) + ",\"virtual_stage\":" + std::to_string(span.chunk);
    event("\"ph\":\"X\",\"name\":" + quoted(span_title(s_, span)) + ",\"cat\":\"" + std::string(span_kind_name(span.kind)) + "\"," + place(stage, stream) +
          ",\"ts\":" + microseconds(span.begin) + ",\"dur\":" + microseconds(span.end - span.begin) + ",\"args\":{" + args + "}");
    if (span.kind != SpanKind::Receive || span.waits_stage < 0) return;
    // An arrow from the send.
    const Span& send = s_.stages[static_cast<size_t>(span.waits_stage)].spans[static_cast<size_t>(span.waits_span)];
    const std::string arrow = "\"name\":\"message\",\"cat\":\"message\",\"id\":" + std::to_string(++arrows_) + ",";
    event("\"ph\":\"s\"," + arrow + place(static_cast<size_t>(span.waits_stage), static_cast<int>(send.stream)) + ",\"ts\":" + microseconds(send.begin));
    event("\"ph\":\"f\",\"bp\":\"e\"," + arrow + place(stage, stream) + ",\"ts\":" + microseconds(span.begin));
  }

  const Simulation& s_;
  std::string out_;
  bool first_ = true;
  int64_t arrows_ = 0;
};

}  // namespace

std::string timeline_json(const Simulation& simulation, const std::string& title) { return Writer(simulation).write(title); }

}  // namespace shardscape
