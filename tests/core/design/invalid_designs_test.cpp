// Invalid input of a person or a file gives a helpful Problem, never a crash.
#include <QTest>
#include <limits>
#include <set>

#include "design/document.h"
#include "design/knobs/command_flags.h"
#include "design/knobs/knob_access.h"
#include "design/knobs/knobs.h"
#include "plan/report.h"
#include "support/random_designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

constexpr int kDesigns = 4000, kDocuments = 4000;

int64_t wild_number(std::mt19937& random, const Knob& knob) {
  constexpr int64_t lowest = std::numeric_limits<int64_t>::min(),
                    highest = std::numeric_limits<int64_t>::max();
  const int64_t values[] = {0,
                            -1,
                            1,
                            3,
                            7,
                            13,
                            1000,
                            knob.min,
                            knob.max,
                            knob.min - 1,
                            knob.max + 1,
                            lowest,
                            highest,
                            int64_t{1} << 40,
                            static_cast<int64_t>(random() % 100),
                            static_cast<int64_t>(random())};
  return values[random() % std::size(values)];
}

// Sets a value that the form and the command line may refuse.
void set_wildly(Design& d, const Knob& knob, std::mt19937& random) {
  const KnobAccess& access = knob_access(knob);
  switch (knob.type) {
    case KnobType::Integer:
    case KnobType::Decimal:
      access.set(d, KnobValue(std::in_place_type<int64_t>, wild_number(random, knob)));
      break;
    case KnobType::Boolean: access.set(d, KnobValue(std::in_place_type<bool>, random() % 2 == 0)); break;
    case KnobType::Choice:
      access.set(d, KnobValue(knob.choices[random() % knob.choices.size()].value));
      break;
    case KnobType::ChoiceList:
      access.set(d, KnobValue(std::vector<std::string>{knob.choices[random() % knob.choices.size()].value}));
      break;
    case KnobType::Text: {
      const char* const texts[] = {"", "layer*", "no_kind*3", "layer*2, layer", "((", "wide: layer ffn=8",
                                   "*"};
      access.set(d, KnobValue(std::string(texts[random() % std::size(texts)])));
      break;
    }
    case KnobType::IntegerList: {
      std::vector<int64_t> list(random() % 5);
      for (int64_t& entry : list) entry = wild_number(random, knob);
      access.set(d, KnobValue(std::move(list)));
      break;
    }
  }
}

std::string flaw_of(const Problem& p) {
  if (p.where.empty() || p.what.empty() || p.accepted.empty()) return "incomplete: " + to_string(p);
  for (const Fix& fix : p.fixes) {
    if (fix.label.empty() || fix.settings.empty()) return "an empty fix: " + to_string(p);
    for (const auto& [id, text] : fix.settings) {
      const Knob* knob = find_knob(id);
      Design design = default_design();
      if (!knob || set_knob(design, *knob, text))
        return "the fix " + id + " = " + text + " cannot be made: " + to_string(p);
    }
  }
  return "";
}

// The fault of the answer for a design. Empty: a valid report, or problems that help.
std::string flaw_of(const Design& design) {
  try {
    const auto report = make_report(design);
    if (!report) return "no report";
    for (const Problem& p : report->problems)
      if (const std::string flaw = flaw_of(p); !flaw.empty()) return flaw;
    if (!report->valid() && !has_errors(report->problems)) return "neither a report nor a problem";
  } catch (const std::exception& e) {
    return std::string("an exception: ") + e.what();
  }
  return "";
}

// Numbers, words and brackets of a saved design replaced, left out or repeated.
std::string edited(std::string text, std::mt19937& random) {
  static const char* const pieces[] = {
      "-1", "0",  "99999999999999999999", "1e300", "0.5", "null", "true",    "\"x\"",
      "{}", "[]", "[1, \"a\"]",           ",",     "}",   "\"",   "\\u0000", "\xff"};
  const size_t edits = 1 + random() % 3;
  for (size_t i = 0; i < edits && !text.empty(); ++i) {
    const size_t at = random() % text.size();
    const std::string piece = pieces[random() % std::size(pieces)];
    switch (random() % 5) {
      case 0: text.erase(at, 1 + random() % 20); break;
      case 1: text.insert(at, piece); break;
      case 2: text.resize(at); break;
      default: {  // the value of a key
        const size_t colon = text.find(": ", at);
        if (colon == std::string::npos) break;
        const size_t end = text.find_first_of(",\n", colon);
        if (end != std::string::npos) text.replace(colon + 2, end - colon - 2, piece);
      }
    }
  }
  return text;
}

}  // namespace

class InvalidDesignsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void wild_values_are_problems() {
    std::mt19937 random(7);
    int invalid = 0;
    for (int i = 0; i < kDesigns; ++i) {
      Design d = random_design(random);
      const size_t edits = random() % 4;
      for (size_t k = 0; k < edits; ++k) set_wildly(d, knobs()[random() % knobs().size()], random);
      if (random() % 50 == 0) d.model.architecture = "no such thing";
      const std::string flaw = flaw_of(d);
      QVERIFY2(flaw.empty(), (flaw + "\n  " + command_line(d)).c_str());
      invalid += has_errors(validate(d));
    }
    QVERIFY2(invalid > kDesigns / 2, qPrintable(QString::number(invalid)));
  }

  void edited_documents_are_problems() {
    std::mt19937 random(11);
    int refused = 0;
    for (int i = 0; i < kDocuments; ++i) {
      const std::string text = edited(to_json(random_design(random)), random);
      std::string flaw;
      try {
        const auto read = design_from_json(text, "edited.json");
        if (const auto* problem = std::get_if<Problem>(&read)) {
          ++refused;
          flaw = flaw_of(*problem);
        } else {
          flaw = flaw_of(std::get<Design>(read));
        }
      } catch (const std::exception& e) {
        flaw = std::string("an exception: ") + e.what();
      }
      QVERIFY2(flaw.empty(), (flaw + "\n" + text).c_str());
    }
    QVERIFY2(refused > kDocuments / 4, qPrintable(QString::number(refused)));
  }

  void saved_designs_come_back() {
    std::mt19937 random(13);
    for (int i = 0; i < 300; ++i) {
      const auto design = repaired(random_design(random), random);
      if (!design) continue;
      const auto read = design_from_json(to_json(*design), "saved.json");
      const auto* problem = std::get_if<Problem>(&read);
      QVERIFY2(!problem, problem ? (to_string(*problem) + "\n" + command_line(*design)).c_str() : "");
      QVERIFY2(std::get<Design>(read) == *design, command_line(*design).c_str());
    }
  }
};

QTEST_GUILESS_MAIN(InvalidDesignsTest)
#include "invalid_designs_test.moc"
