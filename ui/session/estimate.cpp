#include "ui/session/estimate.h"

#include <chrono>
#include <exception>

#include "timing/pass_times.h"

namespace shardscape::ui {

std::shared_ptr<const Estimate> make_estimate(std::shared_ptr<const Report> report, std::stop_token stop) {
  const auto begin = std::chrono::steady_clock::now();
  auto out = std::make_shared<Estimate>();
  out->report = report;
  if (!report->accelerator) {
    out->no_time_reason = "The accelerator \"" + report->design.cluster.accelerator +
                          "\" is not in the catalogue, so there is no time for a step on it.";
  } else {
    try {
      out->simulation = simulate(*report, stop);
      if (out->simulation) out->pass_times = pass_times_note(*report, *out->simulation);
    } catch (const std::exception& error) {
      out->no_time_reason = std::string("This step could not be simulated: ") + error.what() + ".";
    }
  }
  if (stop.stop_requested()) return nullptr;
  out->elapsed_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
                        .count();
  return out;
}

}  // namespace shardscape::ui
