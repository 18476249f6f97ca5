#include "ui/views/explore/dimension_values.h"

#include <algorithm>

#include "explore/space.h"
#include "explore/values.h"
#include "model/library.h"
#include "ui/toolkit/display_text.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

constexpr qsizetype kMostChips = 16;
constexpr int64_t kLargestDegree = 64;

// Degrees accept "all": they follow from the number of ranks.
bool is_degree(const QString& id) {
  for (const char* degree : {"tp", "pp", "dp", "cp"})
    if (id == QLatin1String(degree)) return true;
  return false;
}

}  // namespace

OfferedValues offeredValues(const QString& id, const QString& typed, const Design& base, int64_t gpus) {
  const Knob* knob = find_knob(id.toStdString());
  OfferedValues out;
  if (!knob ||
      (knob->type != KnobType::Integer && knob->type != KnobType::Choice && knob->type != KnobType::Boolean))
    return out;
  const std::string values = typed.toStdString();
  const bool all = is_all(values);
  auto parsed = all && !is_degree(id) ? all_values(*knob, base)
                : all                 ? Result<std::vector<std::string>>(std::vector<std::string>())
                                      : parse_values(*knob, values);
  if (std::holds_alternative<Problem>(parsed)) {
    if (!typed.isEmpty()) return out;
    parsed = std::vector<std::string>();
  }
  for (const std::string& value : std::get<std::vector<std::string>>(parsed)) out.chosen << text_of(value);
  if (knob->type == KnobType::Choice) {
    for (const KnobChoice& choice : knob->choices) out.values << text_of(choice.value);
  } else if (knob->type == KnobType::Boolean) {
    out.values = {QStringLiteral("false"), QStringLiteral("true")};
  } else {
    QList<qlonglong> numbers;
    for (const QString& value : out.chosen) numbers << value.toLongLong();
    numbers << text_of(knob_text(base, *knob)).toLongLong();
    if (is_degree(id))
      for (int64_t degree = 1; degree <= std::min(gpus, kLargestDegree); degree *= 2) numbers << degree;
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    for (const qlonglong number : numbers) out.values << QString::number(number);
  }
  if (out.values.size() > kMostChips && knob->type == KnobType::Integer) return {};
  for (const QString& value : out.values) out.labels << displayText(*knob, value);
  if (is_degree(id)) {
    out.values.prepend(QStringLiteral("all"));
    out.labels.prepend(QStringLiteral("all"));
    if (all) out.chosen = QStringList{QStringLiteral("all")};
  }
  return out;
}

std::optional<Problem> problemOfValues(const QString& id, const QString& typed, const Design& base) {
  const std::string name = id.toStdString(), values = typed.toStdString();
  if (name == kModelAxis) return std::nullopt;  // the space checks the model axis
  const Knob& knob = *find_knob(name == kGpusAxis ? "dp" : name);
  if (is_all(values)) {
    if (is_degree(id)) return std::nullopt;
    if (name == kGpusAxis)
      return Problem{ProblemCode::TooManyValues, name, "\"all\" would be too many numbers of GPUs",
                     "a number, a list such as 1024,2048, or a range such as 8..4096*2"};
    auto all = all_values(knob, base);
    if (auto* problem = std::get_if<Problem>(&all)) return *problem;
    return std::nullopt;
  }
  auto parsed = parse_values(knob, values);
  if (auto* problem = std::get_if<Problem>(&parsed)) return *problem;
  return std::nullopt;
}

QList<WordCompleter::Word> valueWords(const QString& id) {
  QList<WordCompleter::Word> out;
  if (id == QLatin1String(kModelAxis))
    for (const Preset& preset : ModelLibrary::instance().presets())
      out.append({text_of(preset.id), text_of(preset.name)});
  if (const Knob* knob = find_knob(id.toStdString()))
    for (const KnobChoice& choice : knob->choices) out.append({text_of(choice.value), text_of(choice.label)});
  return out;
}

}  // namespace shardscape::ui
