// Builders for the rows of the knob table. Private to core/design.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/enum_count.h"
#include "design/knobs/knob_access.h"

namespace shardscape {

template <auto Spec, auto Field>
constexpr auto number_of() -> int64_t (*)(const Design&) {
  using T = std::decay_t<decltype((std::declval<const Design&>().*Spec).*Field)>;
  if constexpr (std::is_integral_v<T>)
    return [](const Design& d) -> int64_t { return (d.*Spec).*Field; };
  else
    return nullptr;
}

// Access to a plain member, such as &Design::parallel, &ParallelSpec::tp.
template <auto Spec, auto Field>
constexpr KnobAccess member() {
  return {[](const Design& d) {
            using T = std::decay_t<decltype((d.*Spec).*Field)>;
            return KnobValue(std::in_place_type<T>, (d.*Spec).*Field);
          },
          [](Design& d, const KnobValue& value) {
            using T = std::decay_t<decltype((d.*Spec).*Field)>;
            (d.*Spec).*Field = std::get<T>(value);
          },
          number_of<Spec, Field>()};
}

// Access to an enum by a table of names.
template <class T>
struct Named {
  T value;
  const char* name;
  const char* label;
};
// Whether the table has one row for every enumerator, except those that nobody can choose.
template <class T, size_t size>
constexpr bool names_all(const Named<T> (&names)[size], std::initializer_list<T> not_chosen = {}) {
  for (size_t i = 0; i < enum_count<T>(); ++i) {
    const T value = static_cast<T>(i);
    const auto rows = std::count_if(std::begin(names), std::end(names),
                                    [&](const Named<T>& row) { return row.value == value; });
    if (rows + std::count(not_chosen.begin(), not_chosen.end(), value) != 1) return false;
  }
  return true;
}

template <auto Spec, auto Field, auto& Names>
constexpr KnobAccess named() {
  return {[](const Design& d) {
            for (const auto& entry : Names) {
              if (entry.value == (d.*Spec).*Field) return KnobValue(std::string(entry.name));
            }
            return KnobValue(std::string());  // a value without a name: validation reports it
          },
          [](Design& d, const KnobValue& value) {
            for (const auto& entry : Names) {
              if (entry.name == std::get<std::string>(value)) (d.*Spec).*Field = entry.value;
            }
          },
          [](const Design& d) -> int64_t {
            for (size_t i = 0; i < std::size(Names); ++i)
              if (Names[i].value == (d.*Spec).*Field) return static_cast<int64_t>(i);
            return -1;
          }};
}

template <class Names>
std::vector<KnobChoice> choices_of(const Names& names) {
  std::vector<KnobChoice> choices;
  for (const auto& entry : names) choices.push_back({entry.name, entry.label});
  return choices;
}

class TableWriter {
 public:
  explicit TableWriter(KnobTable& table) : table_(table) {}
  void group(KnobGroup group) { group_ = group; }
  void section(std::string name, bool rare = false) {
    section_ = std::move(name);
    rare_ = rare;
    outside_step_ = of_checkpoint_ = false;
  }
  // No step depends on the knobs of this section.
  void outside_of_steps() { outside_step_ = true; }
  // Checkpoints state the values of this section.
  void of_checkpoints() { of_checkpoint_ = true; }

  void number(KnobAccess access, std::string id, std::string label, std::string symbol, std::string unit,
              int64_t min, int64_t max, std::string help) {
    Knob& knob = add(access, KnobType::Integer, std::move(id), std::move(label), std::move(symbol),
                     std::move(help));
    knob.unit = std::move(unit);
    knob.min = min;
    knob.max = max;
  }
  // min and max in thousandths.
  void decimal(KnobAccess access, std::string id, std::string label, int64_t min, int64_t max,
               std::string help, std::string unit = "") {
    Knob& knob = add(access, KnobType::Decimal, std::move(id), std::move(label), "", std::move(help));
    knob.unit = std::move(unit);
    knob.min = min;
    knob.max = max;
  }
  void flag(KnobAccess access, std::string id, std::string label, std::string help) {
    add(access, KnobType::Boolean, std::move(id), std::move(label), "", std::move(help));
  }
  void choice(KnobAccess access, std::string id, std::string label, std::vector<KnobChoice> choices,
              std::string help) {
    add(access, KnobType::Choice, std::move(id), std::move(label), "", std::move(help)).choices = std::move(
        choices);
  }
  void choices(KnobAccess access, std::string id, std::string label, std::vector<KnobChoice> choices,
               std::string help) {
    add(access, KnobType::ChoiceList, std::move(id), std::move(label), "", std::move(help))
        .choices = std::move(choices);
  }
  void list(KnobAccess access, std::string id, std::string label, std::string unit, int64_t min, int64_t max,
            std::string when_empty, std::string help) {
    Knob& knob = add(access, KnobType::IntegerList, std::move(id), std::move(label), "", std::move(help));
    knob.unit = std::move(unit);
    knob.min = min;
    knob.max = max;
    knob.when_empty = std::move(when_empty);
  }

  void text(KnobAccess access, std::string id, std::string label, std::string accepted,
            std::string when_empty, std::string help) {
    Knob& knob = add(access, KnobType::Text, std::move(id), std::move(label), "", std::move(help));
    knob.accepted = std::move(accepted);
    knob.when_empty = std::move(when_empty);
  }

 private:
  Knob& add(KnobAccess access, KnobType type, std::string id, std::string label, std::string symbol,
            std::string help) {
    Knob knob;
    knob.id = std::move(id);
    knob.group = group_;
    knob.section = section_;
    knob.rare = rare_;
    knob.outside_step = outside_step_;
    knob.of_checkpoint = of_checkpoint_;
    knob.type = type;
    knob.label = std::move(label);
    knob.symbol = std::move(symbol);
    knob.help = std::move(help);
    table_.access.push_back(access);
    return table_.knobs.emplace_back(std::move(knob));
  }

  KnobTable& table_;
  KnobGroup group_ = KnobGroup::Model;
  std::string section_;
  bool rare_ = false, outside_step_ = false, of_checkpoint_ = false;
};

// Each function adds the rows of one group of the form, in the order of the form.
void add_model(TableWriter& table);
void add_parallelism(TableWriter& table);
void add_sync(TableWriter& table);  // gradient sync, in the group Parallelism
void add_workload(TableWriter& table);
void add_cluster(TableWriter& table);

}  // namespace shardscape
