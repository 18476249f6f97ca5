// Bundles in temporary folders, and what the checker finds in them.
#pragma once

#include <QTemporaryDir>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bundle/checker.h"
#include "support/trace_bundle.h"

namespace shardscape::test {

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  if (at == std::string::npos) throw std::logic_error("nothing to replace: " + from);
  return text.replace(at, from.size(), to);
}

class CheckedBundles {
 protected:
  // A path in a new folder, which is removed at the end.
  std::filesystem::path fresh_folder(const char* name) {
    folders_.push_back(std::make_unique<QTemporaryDir>());
    return std::filesystem::path(folders_.back()->path().toStdString()) / name;
  }
  CheckReport check(const BundleSpec& bundle, const char* name = "bundle") {
    const std::filesystem::path folder = fresh_folder(name);
    bundle.save(folder);
    return check_bundle(folder);
  }
  static bool has(const CheckReport& report, const std::string& code) {
    return std::any_of(report.findings.begin(), report.findings.end(),
                       [&](const Finding& f) { return f.code == code; });
  }

 private:
  std::vector<std::unique_ptr<QTemporaryDir>> folders_;
};

}  // namespace shardscape::test
