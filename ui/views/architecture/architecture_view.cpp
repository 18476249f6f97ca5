#include "ui/views/architecture/architecture_view.h"

#include <QFrame>
#include <QHBoxLayout>
#include <QPlainTextEdit>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "ui/session/session.h"
#include "ui/toolkit/segmented_control.h"
#include "ui/views/architecture/layers_page.h"

namespace shardscape::ui {

ArchitectureView::ArchitectureView(Session* session, QWidget* graph, TextPage::ShowGraph show_graph,
                                   QWidget* parent)
    : QWidget(parent), session_(session) {
  setObjectName(QStringLiteral("architecture_view"));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  auto* bar = new QWidget(this);
  bar->setAutoFillBackground(true);
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(16, 8, 16, 8);
  pages_ = new SegmentedControl(tr("Part of the architecture"), {tr("Layers"), tr("Text")}, bar);
  pages_->setObjectName(QStringLiteral("architecture_pages"));
  row->addWidget(pages_);
  row->addStretch(1);
  column->addWidget(bar);
  auto* hairline = new QFrame(this);
  hairline->setObjectName(QStringLiteral("hairline"));
  hairline->setFixedHeight(1);
  column->addWidget(hairline);
  stack_ = new QStackedWidget(this);
  layers_ = new LayersPage(session, stack_);
  text_ = new TextPage(session, graph, std::move(show_graph), stack_);
  stack_->addWidget(layers_);
  stack_->addWidget(text_);
  column->addWidget(stack_, 1);
  connect(pages_, &SegmentedControl::chosen, this, &ArchitectureView::showPage);
  connect(layers_, &LayersPage::textRequested, this, [this](const QString& id) {
    showPage(Text);
    text_->duplicate(id, false);
  });
}

void ArchitectureView::showPage(int page) {
  pages_->setCurrent(page);
  // A first look at the text shows that of the present model.
  if (page == Text && text_->editor()->document()->isEmpty())
    text_->duplicate(QString::fromStdString(session_->design().model.architecture), false);
  stack_->setCurrentIndex(page);
}

}  // namespace shardscape::ui
