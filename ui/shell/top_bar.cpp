#include "ui/shell/top_bar.h"

#include <QAction>
#include <QHBoxLayout>
#include <QMenu>
#include <QPushButton>
#include <QToolButton>

#include "ui/session/comparisons.h"
#include "ui/session/session.h"
#include "ui/shell/actions.h"
#include "ui/shell/preset_box.h"
#include "ui/toolkit/icons.h"

namespace shardscape::ui {
namespace {

// Plain text of an action, without mnemonic.
QString plain(const QAction* action) { return action->text().remove('&'); }

QPushButton* push_button(QAction* action, QWidget* parent) {
  auto* button = new QPushButton(plain(action), parent);
  button->setToolTip(plain(action) + " (" + action->shortcut().toString(QKeySequence::NativeText) + ")");
  button->setEnabled(action->isEnabled());
  QObject::connect(button, &QPushButton::clicked, action, &QAction::trigger);
  QObject::connect(action, &QAction::changed, button, [=] { button->setEnabled(action->isEnabled()); });
  return button;
}

QToolButton* tool_button(QAction* action, QWidget* parent) {
  auto* button = new QToolButton(parent);
  button->setDefaultAction(action);
  button->setToolButtonStyle(Qt::ToolButtonIconOnly);
  button->setFocusPolicy(Qt::TabFocus);
  button->setAccessibleName(plain(action));
  return button;
}

// The button with the number of compared designs and the menu of compare actions.
QPushButton* compare_button(Session* session, const Actions& actions, QWidget* parent) {
  auto* button = new QPushButton(parent);
  button->setObjectName("compare_button");
  button->setProperty("menu", true);
  auto* menu = new QMenu(button);
  menu->addActions({actions.pin, actions.compare_file});
  menu->addSeparator();
  menu->addActions({actions.side_by_side, actions.unpin});
  button->setMenu(menu);
  const auto follow = [button, session] {
    const int pinned = session->comparisons()->size();
    button->setText(pinned == 0 ? TopBar::tr("Compare") : TopBar::tr("Compare %1").arg(pinned + 1));
    button->setToolTip(pinned == 0 ? TopBar::tr("Pin the current design, edit on, and compare both")
                                   : TopBar::tr("%1 designs are compared").arg(pinned + 1));
  };
  QObject::connect(session->comparisons(), &Comparisons::changed, button, follow);
  follow();
  return button;
}

}  // namespace

TopBar::TopBar(Session* session, const Actions& actions, QWidget* parent)
    : QWidget(parent), preset_(new PresetBox(session, this)) {
  setObjectName("top_bar");
  setAttribute(Qt::WA_StyledBackground);
  auto* find = push_button(actions.palette, this);
  setThemedIcon(find, "search");
  auto* save = push_button(actions.export_bundle, this);
  save->setProperty("primary", true);
  save->setObjectName("export_button");

  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(12, 8, 12, 8);
  layout->setSpacing(8);
  layout->addWidget(preset_);
  layout->addSpacing(4);
  layout->addWidget(tool_button(actions.undo, this));
  layout->addWidget(tool_button(actions.redo, this));
  layout->addSpacing(4);
  layout->addWidget(compare_button(session, actions, this));
  layout->addStretch(1);
  layout->addWidget(find);
  layout->addWidget(save);
}

}  // namespace shardscape::ui
