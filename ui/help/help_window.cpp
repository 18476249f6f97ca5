#include "ui/help/help_window.h"

#include <QBoxLayout>
#include <QCloseEvent>
#include <QDesktopServices>
#include <QLabel>
#include <QShortcut>
#include <QSignalBlocker>
#include <QSplitter>
#include <QToolButton>
#include <algorithm>

#include "ui/help/help_browser.h"
#include "ui/help/help_tree.h"
#include "ui/toolkit/icons.h"
#include "ui/toolkit/screen_room.h"
#include "ui/toolkit/search_field.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

constexpr int kSideWidth = 290, kPageWidth = 850, kHeight = 780;

QStringList wordsOf(const QString& text) { return text.simplified().split(' ', Qt::SkipEmptyParts); }

QToolButton* arrow(const QString& icon, const QString& name, QWidget* parent) {
  auto* button = new QToolButton(parent);
  button->setProperty("flat", true);
  setThemedIcon(button, icon);
  button->setAccessibleName(name);
  button->setToolTip(name);
  button->setEnabled(false);
  return button;
}

}  // namespace

HelpWindow::HelpWindow(QWidget* parent) : QWidget(parent, Qt::Window) {
  setObjectName(QStringLiteral("help_window"));
  setWindowIcon(QIcon(QStringLiteral(":/icons/shardscape.svg")));
  setAttribute(Qt::WA_StyledBackground);
  setMinimumSize(560, 340);
  columns_ = new QSplitter(Qt::Horizontal, this);
  columns_->setHandleWidth(1);
  columns_->setChildrenCollapsible(false);
  columns_->addWidget(makeSide());
  auto* page = new QWidget(columns_);
  browser_ = new HelpBrowser(page);
  target_ = new QLabel(page);
  target_->setObjectName(QStringLiteral("help_target"));
  target_->setProperty("role", "caption");
  target_->setContentsMargins(12, 3, 12, 3);
  target_->setVisible(false);
  auto* rows = new QVBoxLayout(page);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(0);
  rows->addWidget(browser_, 1);
  rows->addWidget(target_);
  columns_->addWidget(page);
  columns_->setStretchFactor(1, 1);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(columns_);
  resizeOnScreen(this, {kSideWidth + kPageWidth, kHeight});
  columns_->setSizes({kSideWidth, kPageWidth});

  connect(tree_, &HelpTree::chosen, this, [this](int page, int position) { lookAt({page, position}); });
  connect(browser_, &QTextBrowser::anchorClicked, this, &HelpWindow::follow);
  connect(browser_, &QTextBrowser::highlighted, this, [this](const QUrl& link) {
    const bool leads_out = link.isValid() && !library_.resolve(link, visited_[at_].page);
    target_->setText(leads_out ? tr("Opens in another program: %1").arg(link.toString()) : QString());
    target_->setVisible(leads_out);
  });
  connect(search_, &SearchField::searched, this, &HelpWindow::search);
  connect(search_, &SearchField::entered, this, [this](int match) {
    tree_->selectMatch(match);
    lookAt(matches_[match].place);
  });
  connect(search_, &SearchField::left, browser_, [this] { browser_->setFocus(); });
  connect(&Theme::instance(), &Theme::changed, this, &HelpWindow::restyle);
  addShortcuts();
  tree_->showContents();
}

// The library owns the documents and is destroyed before the browser.
HelpWindow::~HelpWindow() { browser_->leavePage(); }

QWidget* HelpWindow::makeSide() {
  auto* side = new QWidget(columns_);
  side->setMinimumWidth(200);
  back_ = arrow(QStringLiteral("back"), tr("Back (Alt+Left)"), side);
  forward_ = arrow(QStringLiteral("forward"), tr("Forward (Alt+Right)"), side);
  search_ = new SearchField({tr("Search all pages"), tr("Search")}, side);
  search_->setObjectName(QStringLiteral("help_search"));
  search_->setAccessibleName(tr("Search all pages"));
  tree_ = new HelpTree(&library_, side);
  auto* top = new QHBoxLayout;
  top->setSpacing(2);
  top->addWidget(back_);
  top->addWidget(forward_);
  top->addSpacing(4);
  top->addWidget(search_, 1);
  auto* rows = new QVBoxLayout(side);
  rows->setContentsMargins(10, 10, 10, 8);
  rows->setSpacing(8);
  rows->addLayout(top);
  rows->addWidget(tree_, 1);
  connect(back_, &QToolButton::clicked, this, [this] { step(-1); });
  connect(forward_, &QToolButton::clicked, this, [this] { step(1); });
  return side;
}

void HelpWindow::addShortcuts() {
  const auto on = [this](const QKeySequence& keys, auto slot) {
    connect(new QShortcut(keys, this), &QShortcut::activated, this, slot);
  };
  on(QKeySequence(QStringLiteral("Alt+Left")), [this] { step(-1); });
  on(QKeySequence(QStringLiteral("Alt+Right")), [this] { step(1); });
  on(QKeySequence::Find, [this] { search_->activate(); });
  on(QKeySequence(QStringLiteral("F3")), [this] { browser_->findMarked(true); });
  on(QKeySequence(QStringLiteral("Shift+F3")), [this] { browser_->findMarked(false); });
  on(QKeySequence(QStringLiteral("Ctrl+W")), [this] { close(); });
  on(QKeySequence(Qt::Key_Escape), [this] {
    if (search_->text().isEmpty()) return static_cast<void>(close());
    search_->clear();
    browser_->setFocus();
  });
}

QByteArray HelpWindow::splitterState() const { return columns_->saveState(); }

void HelpWindow::restoreSplitter(const QByteArray& state) { columns_->restoreState(state); }

QString HelpWindow::shown() const { return at_ < 0 ? QString() : library_.name(visited_[at_].page); }

void HelpWindow::open(const QString& link) {
  QWidget::show();
  raise();
  activateWindow();
  if (library_.size() == 0)
    return browser_->setPlainText(tr("The pages of the documentation are not installed."));
  if (const auto place = link.isEmpty() ? std::nullopt : library_.resolve(QUrl(link)))
    lookAt(*place);
  else if (at_ < 0)
    visit({0, 0});
  browser_->setFocus();
}

void HelpWindow::follow(const QUrl& link) {
  if (const auto place = library_.resolve(link, visited_[at_].page)) return visit(*place);
  QDesktopServices::openUrl(library_.absolute(link, visited_[at_].page));
}

void HelpWindow::visit(const HelpPlace& place) {
  if (at_ >= 0) {
    visited_[at_].position = browser_->top();
    visited_.resize(at_ + 1);
  }
  visited_.push_back(place);
  ++at_;
  show(place);
}

void HelpWindow::lookAt(const HelpPlace& place) {
  if (at_ < 0 || visited_[at_].page != place.page) return visit(place);
  visited_[at_] = place;
  show(place);
}

void HelpWindow::step(int by) {
  if (at_ + by < 0 || at_ + by >= visited_.size()) return;
  visited_[at_].position = browser_->top();
  at_ += by;
  show(visited_[at_]);
}

void HelpWindow::show(const HelpPlace& place) {
  browser_->showPage(library_.document(place.page), library_.absolute({}, place.page), place.position);
  setWindowTitle(tr("%1 - Shardscape documentation").arg(library_.title(place.page)));
  tree_->selectPage(place.page);
  back_->setEnabled(at_ > 0);
  forward_->setEnabled(at_ + 1 < visited_.size());
}

void HelpWindow::search() {
  const QStringList words = wordsOf(search_->text());
  matches_ = library_.search(words);
  search_->setMatches(static_cast<int>(matches_.size()));
  browser_->mark(words);
  if (!words.isEmpty()) return tree_->showMatches(matches_, words);
  tree_->showContents();
  if (at_ >= 0) tree_->selectPage(visited_[at_].page);
}

void HelpWindow::restyle() {
  if (at_ < 0) return;
  const HelpPlace place{visited_[at_].page, browser_->top()};
  browser_->leavePage();
  library_.dropDocuments();
  show(place);
}

void HelpWindow::closeEvent(QCloseEvent* event) {
  Q_EMIT closed();
  event->accept();
}

}  // namespace shardscape::ui
