// The commands of the palette: every action, every preset, every knob, and the fixes of present problems.
#pragma once

#include <QVector>

#include "ui/shell/actions.h"
#include "ui/shell/command_model.h"

namespace shardscape::ui {

class ConfigForm;
class Session;

QVector<Command> paletteCommands(const Actions& actions, Session* session, ConfigForm* form);

}  // namespace shardscape::ui
