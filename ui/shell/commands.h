// Makes the commands of the palette: actions, presets, knobs, and fixes of the design's problems.
#pragma once

#include <QVector>

#include "ui/shell/actions.h"
#include "ui/shell/command_model.h"

namespace shardscape::ui {

class ConfigForm;
class Session;

QVector<Command> paletteCommands(const Actions& actions, Session* session, ConfigForm* form);

}  // namespace shardscape::ui
