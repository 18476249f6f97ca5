#include "ui/shell/commands.h"

#include <QFileInfo>

#include "base/units.h"
#include "design/knobs/knob_state.h"
#include "design/knobs/knobs.h"
#include "model/library.h"
#include "ui/form/config_form.h"
#include "ui/session/session.h"
#include "ui/shell/recent_menu.h"
#include "ui/shell/settings.h"
#include "ui/toolkit/display_text.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

QVector<QPair<QString, QString>> choices_of(const Knob& knob) {
  if (knob.type == KnobType::Boolean)
    return {{QStringLiteral("true"), QObject::tr("on")}, {QStringLiteral("false"), QObject::tr("off")}};
  QVector<QPair<QString, QString>> out;
  if (knob.type == KnobType::Choice)
    for (const KnobChoice& choice : knob.choices)
      out.push_back({text_of(choice.value), text_of(choice.label)});
  return out;
}

}  // namespace

QVector<Command> paletteCommands(const Actions& actions, Session* session, ConfigForm* form) {
  QVector<Command> commands;
  for (const Problem& problem : session->allProblems()) {
    for (const Fix& fix : problem.fixes) {
      commands.push_back(
          {QObject::tr("Fix"), capitalized(text_of(fix.label)), text_of(problem.what), {}, [=] {
             session->applyFix(fix);
           }});
    }
  }
  for (const Actions::Group& group : actions.groups()) {
    for (QAction* action : group.actions) {
      if (!action->isEnabled() || !action->isVisible() || action->menu() || action == actions.palette)
        continue;
      const QString name = action->data().toString();
      const QString title = name.isEmpty() ? action->text().section('\t', 0, 0).remove('&') : name;
      commands.push_back(
          {group.name, title, action->shortcut().toString(QKeySequence::NativeText), {}, [action] {
             action->trigger();
           }});
    }
  }
  auto* recent = actions.open_recent->menu<RecentMenu*>();
  for (const QString& path : settings::recentFiles()) {
    const QFileInfo file(path);
    if (file.exists())
      commands.push_back({QObject::tr("Open recent"), file.fileName(), file.absolutePath(), {}, [=] {
                            Q_EMIT recent->fileRequested(path);
                          }});
  }
  for (const Preset& preset : ModelLibrary::instance().presets()) {
    const QString id = text_of(preset.id);
    commands.push_back({QObject::tr("Model"), text_of(preset.name),
                        text_of(format_count(preset.published_parameters)), id,
                        [=] { session->applyPreset(id, settings::publishedLayouts()); }});
  }
  commands.push_back({QObject::tr("Set"), QObject::tr("GPUs"), text_of(grouped(session->design().world())),
                      QStringLiteral("gpus ranks"), [=] { form->focusGpus(); },
                      [=](const QString& value) { form->setGpus(value); }});
  for (const Knob& knob : knobs()) {
    const QString id = text_of(knob.id);
    commands.push_back({QObject::tr("Set"), text_of(knob.label), text_of(knob_text(session->design(), knob)),
                        knob.symbol.empty() ? id : id + ' ' + text_of(knob.symbol),
                        [=] { form->focusKnob(id); },
                        [=](const QString& value) {
                          form->focusKnob(id);
                          session->setKnob(id, value);
                        },
                        without_effect(session->design(), knob).has_value(), choices_of(knob)});
  }
  return commands;
}

}  // namespace shardscape::ui
