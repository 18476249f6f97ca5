#include "ui/plot/file_window.h"

#include <QBoxLayout>
#include <QComboBox>
#include <QFileInfo>
#include <QShortcut>
#include <QStackedWidget>

#include "ui/plot/chart_table.h"
#include "ui/toolkit/elided_label.h"
#include "ui/toolkit/segmented_control.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

constexpr int kMargin = 12, kSpacing = 8, kHeadSpacing = 5, kHeadingSize = 15;
constexpr QSize kSmallest(600, 400);

}  // namespace

FileWindow::FileWindow(const QString& prefix, const QString& title, const QStringList& pages, QWidget* parent)
    : QWidget(parent, Qt::Window),
      prefix_(prefix),
      head_(new QVBoxLayout),
      tools_(new QHBoxLayout),
      name_(new ElidedLabel(this, Theme::instance().uiFont(kHeadingSize, QFont::DemiBold))),
      facts_(new ElidedLabel(this, Theme::instance().uiFont(), QPalette::PlaceholderText)),
      pages_(new SegmentedControl(tr("Page"), pages, this)),
      rank_(new QComboBox(this)),
      stack_(new QStackedWidget(this)) {
  setObjectName(prefix + QStringLiteral("_window"));
  setWindowTitle(title);
  setAttribute(Qt::WA_StyledBackground);
  setAttribute(Qt::WA_DeleteOnClose);
  setMinimumSize(kSmallest);
  facts_->setObjectName(prefix + QStringLiteral("_facts"));
  pages_->setObjectName(prefix + QStringLiteral("_pages"));
  rank_->setObjectName(prefix + QStringLiteral("_rank"));
  tools_->setSpacing(kSpacing);
  tools_->addWidget(pages_);
  tools_->addStretch(1);
  tools_->addWidget(rank_);
  head_->setSpacing(kHeadSpacing);
  head_->addWidget(name_);
  head_->addWidget(facts_);
  head_->addLayout(tools_);
  auto* rows = new QVBoxLayout(this);
  rows->setContentsMargins(kMargin, kMargin, kMargin, kMargin);
  rows->setSpacing(kSpacing);
  rows->addLayout(head_);
  rows->addWidget(stack_, 1);
  connect(new QShortcut(QKeySequence::Close, this), &QShortcut::activated, this, &QWidget::close);
}

void FileWindow::showReading(const QString& path, const QString& title) {
  const QString name = QFileInfo(path).fileName();
  setWindowTitle(title.arg(name));
  setName(name);
  facts_->setText(tr("Reading…"));
}

void FileWindow::showProgress(double part) {
  facts_->setText(tr("Reading: %1 %").arg(static_cast<int>(100 * part)));
}

void FileWindow::setName(const QString& name) { name_->setText(name); }

void FileWindow::setCurrentPage(int page) {
  pages_->setCurrent(page);
  stack_->setCurrentIndex(page);
}

ChartTable* FileWindow::makeTable(const QString& name, const QString& accessible, TableModel* model,
                                  QWidget* parent) {
  auto* out = new ChartTable(parent);
  out->setObjectName(prefix_ + u'_' + name);
  out->setAccessibleName(accessible);
  out->setTable(model);
  return out;
}

}  // namespace shardscape::ui
