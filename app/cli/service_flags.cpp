#include "app/cli/service_flags.h"

#include <optional>
#include <utility>

#include "app/cli/exit_code.h"
#include "app/cli/messages.h"

namespace shardscape {
namespace {

// The placeholder of a value in the help.
std::string value_name(const ServiceSetting& setting) {
  switch (setting.kind) {
    case SettingKind::Whole: return "N";
    case SettingKind::Number: return "X";
    case SettingKind::Numbers: return "X,X,...";
    case SettingKind::File: return "FILE";
    case SettingKind::Seconds: return "TIME";
    case SettingKind::Level: return "LIMITS";
    case SettingKind::Switch: return "";
    case SettingKind::Choice: break;
  }
  std::string out;
  for (const char* choice : setting.choices) out += (out.empty() ? "" : "|") + std::string(choice);
  return out;
}

// The problem with the flag of the setting that it is about.
Problem with_flag(Problem problem) {
  if (const ServiceSetting* setting = find_setting(problem.where)) problem.where = setting->flag();
  return problem;
}

}  // namespace

std::vector<Flag> service_flags(const std::set<std::string>& left_out) {
  std::vector<Flag> flags;
  const ServiceSpec standard;
  for (const ServiceSetting& setting : service_settings()) {
    if (left_out.contains(setting.id)) continue;
    const std::string text = setting.text(standard);
    flags.push_back({setting.flag(), 0,
                     setting.kind == SettingKind::Switch ? FlagKind::Boolean : FlagKind::Value,
                     value_name(setting), setting.help + (text.empty() ? text : " Default: " + text + "."),
                     group_label(setting.group)});
  }
  return flags;
}

std::variant<ServiceSpec, int> service_of(const Arguments& arguments, const std::set<std::string>& left_out) {
  ServiceSpec spec;
  const auto given = [&](const ServiceSetting& setting) {
    return left_out.contains(setting.id) ? nullptr : arguments.value(setting.flag());
  };
  for (const ServiceSetting& setting : service_settings())
    if (const std::string* text = given(setting))
      if (auto problem = set_setting(spec, setting, *text))
        return service_failure(*std::move(problem), kWrongUsage);
  for (const ServiceSetting& setting : service_settings())
    if (given(setting))
      if (auto problem = check_engine(spec, setting))
        return service_failure(*std::move(problem), kWrongUsage);
  return spec;
}

int service_failure(Problem problem, int exit_code) {
  print_problem(with_flag(std::move(problem)));
  return exit_code;
}

int service_refusal(Problem problem) { return print_refusal(with_flag(std::move(problem))); }

}  // namespace shardscape
