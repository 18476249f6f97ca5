#include "ui/toolkit/page_splitter.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <numeric>

#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

constexpr int kHandle = 9, kStep = 24;  // pixels
constexpr double kGrip = 36;

class Divider : public QSplitterHandle {
 public:
  explicit Divider(PageSplitter* parent) : QSplitterHandle(Qt::Vertical, parent), page_(parent) {
    setFocusPolicy(Qt::TabFocus);
    setAccessibleName(PageSplitter::tr("Divider of the page"));
    setToolTip(PageSplitter::tr("Drag to give room to a part; double click gives all to the part below"));
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    const Colors& colors = Theme::instance().colors();
    const bool active = hasFocus() || underMouse();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(active ? colors.accent : colors.line);
    const double middle = height() / 2.0;
    painter.drawRect(QRectF(0, middle - 0.5, width(), 1));
    painter.drawRoundedRect(QRectF((width() - kGrip) / 2, middle - 1.5, kGrip, 3), 1.5, 1.5);
  }
  void enterEvent(QEnterEvent*) override { update(); }
  void leaveEvent(QEvent*) override { update(); }
  void focusInEvent(QFocusEvent*) override { update(); }
  void focusOutEvent(QFocusEvent*) override { update(); }
  void mouseDoubleClickEvent(QMouseEvent* event) override {
    if (event->button() == Qt::LeftButton) page_->toggleMaximised(part());
  }
  void keyPressEvent(QKeyEvent* event) override {
    switch (event->key()) {
      case Qt::Key_Up: return page_->move(part(), -kStep);
      case Qt::Key_Down: return page_->move(part(), kStep);
      case Qt::Key_Return:
      case Qt::Key_Enter:
      case Qt::Key_Space: return page_->toggleMaximised(part());
      default: QSplitterHandle::keyPressEvent(event);
    }
  }

 private:
  int part() const { return page_->indexOf(const_cast<Divider*>(this)); }  // the part below
  PageSplitter* page_;
};

}  // namespace

PageSplitter::PageSplitter(const QString& name, QWidget* parent) : QSplitter(Qt::Vertical, parent) {
  setObjectName(name);
  setHandleWidth(kHandle);
  setChildrenCollapsible(false);
  connect(this, &QSplitter::splitterMoved, this, [this] {
    moved_ = true;
    before_.clear();
  });
}

QSplitterHandle* PageSplitter::createHandle() { return new Divider(this); }

void PageSplitter::suggest(const QList<int>& heights) {
  suggested_ = heights;
  apply();
}

void PageSplitter::apply() {
  if (moved_ || maximised() || suggested_.size() != count() || height() <= 0) return;
  QList<int> heights = suggested_;
  const int used = std::accumulate(heights.begin(), heights.end(), 0) + kHandle * (count() - 1);
  for (int& part : heights)
    if (part == 0) part = std::max(1, height() - used);
  setSizes(heights);
}

void PageSplitter::resizeEvent(QResizeEvent* event) {
  QSplitter::resizeEvent(event);
  apply();
}

void PageSplitter::toggleMaximised(int part) {
  moved_ = true;
  if (maximised()) {
    setSizes(before_);
    before_.clear();
  } else {
    before_ = sizes();
    QList<int> heights(count(), 0);
    heights[part] = height();
    setChildrenCollapsible(true);
    setSizes(heights);
  }
  setChildrenCollapsible(maximised());
}

void PageSplitter::move(int divider, int pixels) {
  QList<int> heights = sizes();
  moved_ = true;
  before_.clear();
  setChildrenCollapsible(false);
  heights[divider - 1] += pixels;
  heights[divider] -= pixels;
  setSizes(heights);
}

QByteArray PageSplitter::remembered() const {
  if (!moved_) return {};
  QByteArray out;
  for (const int part : maximised() ? before_ : sizes()) out += QByteArray::number(part) + ' ';
  return out.trimmed();
}

void PageSplitter::restore(const QByteArray& state) {
  QList<int> heights;
  for (const QByteArray& part : state.split(' ')) heights << part.toInt();
  moved_ = heights.size() == count() && std::accumulate(heights.begin(), heights.end(), 0) > 0;
  before_.clear();
  moved_ ? setSizes(heights) : apply();
}

}  // namespace shardscape::ui
