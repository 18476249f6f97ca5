#include "ui/graph_view/graph_notice.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <algorithm>

#include "ui/graph_view/node_text.h"
#include "ui/state/session.h"

namespace shardscape::ui {

GraphNotice::GraphNotice(Session* session, QWidget* parent)
    : QFrame(parent), session_(session), text_(new QLabel(this)), row_(new QHBoxLayout(this)) {
  setObjectName(QStringLiteral("graph_notice"));
  row_->setContentsMargins(16, 8, 16, 8);
  row_->setSpacing(8);
  text_->setWordWrap(true);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  row_->addWidget(text_, 1);
  connect(session_, &Session::reportChanged, this, &GraphNotice::refresh);
  connect(session_, &Session::computingChanged, this, &GraphNotice::refresh);
  refresh();
}

void GraphNotice::refresh() {
  while (row_->count() > 1) {
    QLayoutItem* item = row_->takeAt(1);
    item->widget()->deleteLater();
    delete item;
  }
  const bool has_picture = session_->report() && session_->report()->valid();
  const auto& problems = session_->problems();
  const auto error = std::find_if(problems.begin(), problems.end(), [](const Problem& p) { return p.severity == Severity::Error; });
  if (error == problems.end()) {
    text_->setText(tr("Computing the graph …"));
    setVisible(!has_picture);
    return;
  }
  QString text = qtext(error->what);
  if (!error->accepted.empty()) text += tr("; accepted: ") + qtext(error->accepted);
  text += has_picture ? tr(". Below is the last graph that could be made.") : tr(". There is no graph for this design.");
  text_->setText(text);
  for (const Fix& fix : error->fixes) {
    auto* button = new QPushButton(qtext(fix.label), this);
    connect(button, &QPushButton::clicked, this, [this, fix] { session_->applyFix(fix); });
    row_->addWidget(button);
  }
  if (session_->undoStack()->canUndo()) {
    auto* undo = new QPushButton(tr("Undo"), this);
    connect(undo, &QPushButton::clicked, session_->undoStack(), &QUndoStack::undo);
    row_->addWidget(undo);
  }
  setVisible(true);
}

}  // namespace shardscape::ui
