#include "support/preset_rows.h"

#include <QtTest>

#include "support/execution_runs.h"
#include "support/tiny_models.h"

namespace shardscape::test {
namespace {

Design design_of(const std::string& preset, const std::string& settings) {
  Design d = tiny_preset(preset);
  set_knobs(d, settings);
  return d;
}

}  // namespace

void add_preset_rows(PresetKind kind, std::initializer_list<const char*> settings) {
  QTest::addColumn<QString>("preset");
  QTest::addColumn<QString>("settings");
  for (const std::string& preset : presets_by_architecture()) {
    const bool experts = tiny_preset(preset).model.experts > 0;
    if (kind != PresetKind::All && experts != (kind == PresetKind::Experts)) continue;
    for (const char* text : settings)
      if (!refused(design_of(preset, text)))
        QTest::addRow("%s: %s", preset.c_str(), text) << QString::fromStdString(preset) << QString(text);
  }
}

Design fetched_preset() {
  QFETCH(QString, preset);
  QFETCH(QString, settings);
  return design_of(preset.toStdString(), settings.toStdString());
}

}  // namespace shardscape::test
