// Shows one page of the documentation in a column of readable width, with the words of a search marked.
#pragma once

#include <QHash>
#include <QImage>
#include <QTextBrowser>

namespace shardscape::ui {

class HelpBrowser : public QTextBrowser {
  Q_OBJECT
 public:
  explicit HelpBrowser(QWidget* parent = nullptr);
  // folder: the base of the page's relative picture paths.
  void showPage(QTextDocument* page, const QUrl& folder, int top);
  void leavePage();
  int top() const;  // position in the document of the first visible line
  void goTo(int position);
  void mark(const QStringList& words);
  bool findMarked(bool forward);  // goes to the next or previous marked word; false if there is none

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void layOut();
  void scalePictures(int width);
  void showMarks();
  QUrl folder_;
  QStringList words_;
  QHash<QString, QImage> pictures_;  // by the name in the page, of the shown page
};

}  // namespace shardscape::ui
