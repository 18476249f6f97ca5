#include "report/campaign_report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "accuracy/error_band.h"
#include "base/json_text.h"
#include "base/units.h"
#include "design/document.h"
#include "design/knobs/knobs.h"
#include "memory/memory_timeline.h"

namespace shardscape {
namespace {

using Json = nlohmann::ordered_json;

std::string number_text(double value) {
  constexpr double kShortest = 1000;
  if (!std::isfinite(value)) return "infinity";
  const bool whole = value == std::round(value);
  return std::abs(value) < kShortest && !whole ? significant(value) : grouped(nearest_whole(value));
}

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }
Json band_json(const Band& b) {
  return {{"low", number(b.low)}, {"mean", number(b.mean)}, {"high", number(b.high)}};
}
Json band_json(const std::optional<Band>& b) { return b ? band_json(*b) : Json(); }
Json known(double value) { return value > 0 ? number(value) : Json(); }
Json known(const std::optional<double>& value) { return value ? number(*value) : Json(); }
Json range_json(const Range& r) { return {{"usual", r.usual}, {"low", r.low}, {"high", r.high}}; }

Json operation_json(const Operation& o) {
  return {{"price_per_hour", known(o.price_per_hour)},
          {"board_watts", known(o.board_watts)},
          {"host_watts", known(o.host_watts)},
          {"pue", o.pue},
          {"site_watts", known(o.site_watts())},
          {"failures_per_1000_node_days", range_json(o.failure_rate)},
          {"restart_seconds", range_json(o.restart_seconds)},
          {"checkpoint_gb_per_second_and_rank", o.checkpoint_gbps}};
}

Json checkpoint_json(const Campaign& c) {
  return {{"bytes", c.checkpoint.total},
          {"slowest_rank_bytes", c.checkpoint.slowest()},
          {"slowest_stage", c.checkpoint.slowest_stage},
          {"save_seconds", c.save_seconds},
          {"interval_seconds", c.interval_seconds},
          {"interval_steps", c.interval_steps},
          {"interval_given", c.interval_given},
          {"best_interval_seconds", c.best_interval_seconds},
          {"young_interval_seconds", c.young_seconds},
          {"daly_interval_seconds", c.daly_seconds},
          {"count", c.checkpoints}};
}

// "7.84 minutes", "3.2 hours"
std::string duration(double seconds) {
  constexpr double kMinute = 60, kHour = 3600, kTwo = 2;
  if (seconds < kTwo * kMinute) return format_seconds(seconds);
  if (seconds < kTwo * kHour) return significant(seconds / kMinute) + " min";
  return significant(seconds / kHour) + " h";
}

std::string line(const std::string& label, const std::string& text) {
  constexpr size_t kLabel = 22;
  return "  " + label + std::string(label.size() < kLabel ? kLabel - label.size() : 1, ' ') + text + "\n";
}

std::string bytes_text(double bytes) { return format_bytes(nearest_whole(bytes), UnitSystem::Decimal); }

std::string failures_text(const Campaign& c) {
  const Range& rate = c.operation.failure_rate;
  std::string text = "one in " + duration(c.mtti_hours * 3600) + " (" + significant(rate.usual) +
                     " per 1,000 node-days of 8 accelerators";
  if (rate.low < rate.high)
    text += "; published runs: " + significant(rate.low) + " to " + significant(rate.high);
  return text + ")";
}

std::string checkpoint_text(const Campaign& c) {
  return line("checkpoint", bytes_text(c.checkpoint.total) + ", " + bytes_text(c.checkpoint.slowest()) +
                                " on the slowest rank (stage " + std::to_string(c.checkpoint.slowest_stage) +
                                "), saved in " + format_seconds(c.save_seconds)) +
         line("save interval",
              duration(c.interval_seconds) + " (" + number_text(c.interval_steps) + " steps), " +
                  (c.interval_given ? "given; best: " + duration(c.best_interval_seconds)
                                    : "best; " + number_text(c.checkpoints) + " checkpoints"));
}

}  // namespace

std::string dollars_text(double dollars) {
  constexpr double kMillion = 1e6;
  if (!std::isfinite(dollars)) return number_text(dollars);
  return "$" + (dollars < kMillion ? number_text(dollars) : number_text(dollars / kMillion) + " M");
}

std::string energy_text(double mwh) {
  constexpr double kKilo = 1000;
  return mwh < 1 ? number_text(mwh * kKilo) + " kWh" : number_text(mwh) + " MWh";
}

std::string band_text(const Band& band, const std::string& unit) {
  return number_text(band.mean) + (unit.empty() ? "" : " " + unit) + " (" + number_text(band.low) + " to " +
         number_text(band.high) + ")";
}

std::string running_cost_text(const RunningCost& cost) {
  if (!cost.dollars && !cost.kwh) return "";
  std::string text = "per million tokens: ";
  if (cost.dollars) text += dollars_text(*cost.dollars) + (cost.kwh ? ", " : "");
  if (cost.kwh) text += significant(*cost.kwh) + " kWh for accelerators, hosts and cooling";
  return text + "\n";
}

std::string missing_costs_text(const std::vector<ClusterSpec>& clusters) {
  std::string out;
  for (const MissingCost& value : missing_costs(clusters))
    out += value.what + ": " + find_knob(value.knob)->flag() + " sets it\n";
  return out;
}

std::string campaign_json(const Report& report, const Campaign& c) {
  Json out;
  out["design"] = Json::parse(to_json(report.design));
  out["fits"] = report.memory && report.memory->fits;
  out["tokens"] = c.tokens;
  out["tokens_per_step"] = c.tokens_per_step;
  out["accelerators"] = c.accelerators;
  out["steps"] = c.steps;
  out["step_seconds"] = c.step_seconds;
  out["batch_ramp"] = {{"steps", c.ramp.steps}, {"sequences", c.ramp.samples}, {"seconds", c.ramp.seconds}};
  out["operation"] = operation_json(c.operation);
  out["checkpoint"] = checkpoint_json(c);
  out["mean_hours_to_interruption"] = c.mtti_hours;
  out["step_days"] = c.step_days;
  out["makes_progress"] = !c.hopeless;
  out["shares"] = {{"steps", c.shares.steps},
                   {"saves", c.shares.saves},
                   {"repeated_steps", c.shares.repeated},
                   {"restarts", c.shares.restarts}};
  out["goodput"] = c.shares.steps;
  out["days"] = band_json(c.days);
  if (const auto band = design_bands(report.design).time; band && !c.hopeless)
    out["days_of_step_band"] = {{"coverage", kBandCoverage},
                                {"low", number(c.days.mean * band->low)},
                                {"high", number(c.days.mean * band->high)},
                                {"basis", band->basis}};
  out["interruptions"] = band_json(c.interruptions);
  out["accelerator_hours"] = band_json(c.accelerator_hours);
  out["usd"] = band_json(c.dollars);
  out["mwh"] = band_json(c.mwh);
  out["usd_per_million_tokens"] = known(c.running.dollars);
  out["kwh_per_million_tokens"] = known(c.running.kwh);
  return json_document(out);
}

std::string campaign_sentence(const Campaign& c) {
  const std::string out = "The training run of " + format_count(c.tokens) + " tokens ";
  if (c.hopeless) return out + "makes no progress: interruptions come faster than restarts and saves.";
  std::string takes = band_text(c.days, "days");
  if (c.dollars) takes += std::string(c.mwh ? ", " : " and ") + dollars_text(c.dollars->mean);
  if (c.mwh) takes += " and " + energy_text(c.mwh->mean);
  return out + "takes " + takes + "; interruptions: " + band_text(c.interruptions, "") + ".";
}

std::string campaign_text(const Report& report, const Campaign& c) {
  const Operation& o = c.operation;
  std::string out = report.design.name + ": " + format_count(c.tokens) + " tokens on " +
                    grouped(c.accelerators) + " x " + machine_name(report.design.cluster) + "\n";
  if (report.memory && !report.memory->fits) out += "warning: the design does not fit in memory\n";
  out += line("steps", number_text(c.steps) + " of " + grouped(c.tokens_per_step) + " tokens, " +
                           format_seconds(c.step_seconds) + " each: " + significant(c.step_days) +
                           " days without interruptions");
  if (c.ramp.steps > 0)
    out += line("batch ramp", number_text(c.ramp.steps) + " of the steps, with " +
                                  grouped(report.design.workload.ramp.start) + " to " +
                                  grouped(report.design.workload.batch) +
                                  " sequences: " + significant(c.ramp.seconds / 86400) + " days");
  out += checkpoint_text(c);
  out += line("failures", failures_text(c));
  out += line("restart", duration(o.restart_seconds.usual) +
                             (o.restart_seconds.low < o.restart_seconds.high
                                  ? "; published runs: " + duration(o.restart_seconds.low) + " to " +
                                        duration(o.restart_seconds.high)
                                  : ""));
  if (c.hopeless)
    return out + "the run makes no progress: interruptions come faster than restarts and saves\n";
  out += line("goodput", format_percent(c.shares.steps) + " of the time; saves " +
                             format_percent(c.shares.saves) + ", repeated steps " +
                             format_percent(c.shares.repeated) + ", restarts " +
                             format_percent(c.shares.restarts));
  out += line("time", band_text(c.days, "days"));
  if (const auto band = design_bands(report.design).time)
    out += line("80 % band of steps",
                shardscape::band_text(c.days.mean, band, number_text) + " days (" + band->basis + ")");
  out += line("interruptions", band_text(c.interruptions, ""));
  out += line("accelerator-hours", band_text(c.accelerator_hours, ""));
  out += line("dollars", c.dollars ? dollars_text(c.dollars->mean) + " (" + dollars_text(c.dollars->low) +
                                         " to " + dollars_text(c.dollars->high) + ") at $" +
                                         significant(o.price_per_hour) + " per accelerator-hour"
                                   : "unknown; --price-per-hour sets the price");
  out += line("energy", c.mwh
                            ? band_text(*c.mwh, "MWh") + " at " + number_text(o.board_watts) + " W board + " +
                                  number_text(o.host_watts) + " W host, PUE " + significant(o.pue)
                            : "unknown; --board-power sets the power");
  out +=
      "each range in parentheses covers at least 90 % of runs: published ranges of failures and restarts "
      "where none is given,\nsteps 10 % faster or slower, and up to 10 % of other losses\n";
  if (c.accelerators < kFewAccelerators)
    out += "small jobs are interrupted more often than their nodes fail, so the low end is a lower bound\n";
  return out + running_cost_text(c.running);
}

}  // namespace shardscape
