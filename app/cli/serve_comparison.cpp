#include "app/cli/serve_comparison.h"

#include <algorithm>
#include <utility>

#include "app/cli/comparison_output.h"
#include "app/cli/messages.h"
#include "app/cli/service_answer.h"
#include "base/number_text.h"
#include "explore/service_comparison.h"

namespace shardscape {
namespace {

constexpr const char* kFlag = "--against";
constexpr const char* kAccepted =
    "a saved design, settings such as \"engine=sglang;max_running_requests=64\", or \"FILE;SETTING=VALUE\"";

struct Services {
  std::vector<NamedDesign> list;
  std::vector<std::string> paths;  // that tell equal names apart
};

Problem wrong(std::string what) { return {ProblemCode::FlagValueInvalid, kFlag, std::move(what), kAccepted}; }

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> out;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(';', begin), text.size());
    if (const std::string_view part = trimmed(std::string_view(text).substr(begin, end - begin));
        !part.empty())
      out.emplace_back(part);
    begin = end + 1;
  }
  return out;
}

// The setting of "id=value"; null: none.
const ServiceSetting* setting_of(const std::string& part) {
  const size_t equals = part.find('=');
  return equals == std::string::npos ? nullptr
                                     : find_setting(trimmed(std::string_view(part).substr(0, equals)));
}

std::optional<Problem> read_setting(const std::string& part, ServiceSpec& spec) {
  const size_t equals = part.find('=');
  const ServiceSetting* setting = setting_of(part);
  if (!setting) return wrong("\"" + part + "\" is no setting of a service with a value");
  if (setting->group == SettingGroup::Requests || setting->group == SettingGroup::Limits)
    return wrong("\"" + std::string(setting->id) + "\" is the same for all services: the flag " +
                 setting->flag() + " sets it");
  auto problem = set_setting(spec, *setting, std::string(trimmed(std::string_view(part).substr(equals + 1))));
  return problem ? wrong(problem->what + ": " + problem->where + " accepts " + problem->accepted) : problem;
}

// The designs of a document, pinned ones first, with the requests of `spec`.
std::optional<Problem> read_file(const std::string& path, const ServiceSpec& spec, Services& out) {
  auto loaded = load_study(path);
  if (auto* problem = std::get_if<Problem>(&loaded)) return std::move(*problem);
  Study& study = std::get<Study>(loaded);
  if (study.lost) print_problem(*study.lost);
  for (NamedDesign& pinned : study.compared) {
    out.paths.push_back(path + ", " + pinned.name);
    pinned.service = pinned.service ? with_engine_of(spec, *pinned.service) : spec;
    out.list.push_back(std::move(pinned));
  }
  const bool own = !(study.pages.service == ServiceSpec());
  out.paths.push_back(path);
  out.list.push_back(
      {study.design.name, std::move(study.design), own ? with_engine_of(spec, study.pages.service) : spec});
  return std::nullopt;
}

std::optional<Problem> read_other(const std::string& text, const NamedDesign& base, Services& all) {
  std::vector<std::string> parts = parts_of(text);
  if (parts.empty()) return wrong("the value is empty");
  Services others;
  if (const std::string id = parts[0].substr(0, parts[0].find('='));
      !find_setting(std::string(trimmed(id)))) {
    if (auto problem = read_file(parts[0], *base.service, others)) return problem;
    parts.erase(parts.begin());
  } else {
    others.list.push_back(base);
    others.paths.push_back(text);
  }
  for (NamedDesign& other : others.list) {
    for (const std::string& part : parts) {
      if (auto problem = read_setting(part, *other.service)) return problem;
      other.name += ", " + part;
    }
    for (const std::string& part : parts)
      if (auto problem = check_engine(*other.service, *setting_of(part)))
        return wrong("\"" + part + "\": " + problem->what);
    all.list.push_back(std::move(other));
  }
  for (std::string& path : others.paths) all.paths.push_back(std::move(path));
  return std::nullopt;
}

std::vector<std::string> names_of(const ServiceComparison& found, const std::vector<std::string>& paths) {
  std::vector<std::string> out;
  for (const NamedDesign& service : found.services) out.push_back(service.name);
  tell_apart(out, paths);
  return out;
}

std::vector<DifferentSetting> knobs_of(const ServiceComparison& found) {
  std::vector<Design> designs;
  for (const NamedDesign& service : found.services) designs.push_back(service.design);
  std::vector<DifferentSetting> out;
  for (ComparedKnob& row : compare_knobs(designs))
    out.push_back({row.knob->id, row.knob->label, std::move(row.values)});
  return out;
}

std::vector<DifferentSetting> settings_of(const ServiceComparison& found) {
  std::vector<ServiceSpec> specs;
  for (const NamedDesign& service : found.services) specs.push_back(*service.service);
  std::vector<DifferentSetting> out;
  for (ComparedSetting& row : compare_settings(specs))
    out.push_back({row.setting->id, row.setting->label, std::move(row.values)});
  return out;
}

}  // namespace

Flag against_flag() {
  return {kFlag,
          0,
          FlagKind::Value,
          "FILE[;SETTING=VALUE]...",
          "Compare with another service under the same requests and limits: a saved design, settings of the "
          "engine and the fleet that differ (engine=sglang;max_running_requests=64), or both. A document "
          "brings its pinned designs, too. May be repeated. Prints the settings that differ and all figures "
          "with their differences.",
          ""};
}

int compare_with_others(const Arguments& arguments, const Design& design, const ServiceSpec& spec) {
  Services services;
  services.list.push_back({design.name, design, spec});
  services.paths.push_back("flags");
  for (const std::string& text : arguments.values(kFlag))
    if (auto problem = read_other(text, NamedDesign(services.list.front()), services))
      return problem->code == ProblemCode::FileUnreadable ? service_refusal(*std::move(problem))
                                                          : service_failure(*std::move(problem), kWrongUsage);
  const std::vector<std::string> paths = services.paths;
  Question<ServiceComparison> question;
  question.compute = [&](std::stop_token stop, const auto& progress) {
    return run_services(std::move(services.list), std::move(stop), {}, progress);
  };
  question.csv = [&](const ServiceComparison& found) {
    return comparison_csv(names_of(found, paths), compare_services(found.runs));
  };
  question.json = [&](const ServiceComparison& found) {
    return comparison_json("services", names_of(found, paths),
                           {{"knobs", knobs_of(found)}, {"settings", settings_of(found)}},
                           compare_services(found.runs));
  };
  question.text = [&](const ServiceComparison& found) {
    std::vector<DifferentSetting> all = knobs_of(found);
    for (DifferentSetting& row : settings_of(found)) all.push_back(std::move(row));
    return comparison_text(names_of(found, paths), all, compare_services(found.runs));
  };
  return ask(arguments, question);
}

}  // namespace shardscape
