// Reads launches in tests.
#pragma once

#include <QString>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "design/knobs/knobs.h"
#include "launch/launch_import.h"

namespace shardscape::test {

// gpus: 0 if the text says it. files: texts beside the launch.
inline LaunchImport read_launch(std::string text, int64_t gpus = 0, std::string model = "",
                                const std::map<std::string, std::string>& files = {}) {
  LaunchRequest request;
  request.text = std::move(text);
  request.where = "launch";
  if (gpus > 0) request.gpus = gpus;
  request.model = std::move(model);
  request.shell.source = [files](const std::string& name) -> std::optional<std::string> {
    const auto it = files.find(name);
    return it == files.end() ? std::nullopt : std::optional(it->second);
  };
  return import_launch(request);
}

inline const LaunchField* field(const LaunchImport& import, const std::string& name) {
  for (const LaunchField& one : import.fields)
    if (one.name == name) return &one;
  return nullptr;
}

// What is wrong; empty if all knobs have these values.
inline QString expect_knobs(const LaunchImport& import,
                            const std::vector<std::pair<std::string, std::string>>& wanted) {
  if (!import.ok()) return QString::fromStdString(to_string(import.problems[0]));
  std::string out;
  for (const auto& [id, value] : wanted) {
    const Knob* const knob = find_knob(id);
    const std::string is = knob ? knob_text(import.design, *knob) : "no such knob";
    if (is != value) out += id + ": " + is + ", expected " + value + "; ";
  }
  return QString::fromStdString(out);
}

}  // namespace shardscape::test
