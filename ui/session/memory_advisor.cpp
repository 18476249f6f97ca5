#include "ui/session/memory_advisor.h"
#include "model/library.h"
#include "ui/toolkit/background_threads.h"

#include <exception>

namespace shardscape::ui {
namespace {

constexpr int kRestMs = 250;

}  // namespace

MemoryAdvisor::MemoryAdvisor(QObject* parent) : QObject(parent) {
  delay_.setSingleShot(true);
  delay_.setInterval(kRestMs);
  connect(&delay_, &QTimer::timeout, this, [this] { work(requested_for_, thorough_); });
}

MemoryAdvisor::~MemoryAdvisor() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void MemoryAdvisor::request(std::shared_ptr<const Estimate> estimate, bool thorough) {
  if (!estimate || (estimate == requested_for_ && (thorough_ || !thorough))) return;
  thorough_ = thorough;
  requested_for_ = std::move(estimate);
  thread_.request_stop();
  delay_.start();
}

void MemoryAdvisor::work(const std::shared_ptr<const Estimate>& estimate, bool thorough) {
  thread_ = std::jthread([this, estimate, thorough](std::stop_token stop) {
    lowerThisThread();
    const ModelLibrary::Scope library(ModelLibrary::instance());
    const auto seconds = [&stop](const Report& report) -> std::optional<double> {
      if (!report.accelerator) return std::nullopt;
      const auto simulated = simulate(report, stop);
      return simulated ? std::optional(simulated->step_seconds) : std::nullopt;
    };
    std::vector<MemoryAdvice> found;
    std::optional<Fragmentation> segments;
    try {
      segments = shardscape::fragmentation(*estimate->report, stop);
      if (thorough) found = memory_advice(*estimate->report, *estimate->report->memory, seconds, stop);
    } catch (const std::exception&) {
      return;  // no advice is shown; nothing else depends on it
    }
    if (stop.stop_requested()) return;
    inbox_.post([this, estimate, found, segments, thorough] {
      if (estimate != requested_for_) return;
      allocator_for_ = estimate;
      fragmentation_ = segments;
      if (thorough) {
        advice_for_ = estimate;
        advice_ = found;
      }
      Q_EMIT ready();
    });
  });
}

}  // namespace shardscape::ui
