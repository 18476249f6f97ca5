// What a person sets on pages of the window and the document keeps: limits of serving, bookmarks of the
// timeline, settings of requests. Undo does not cover these settings.
#pragma once

#include <QObject>

#include "explore/study.h"

namespace shardscape::ui {

class PageSettings : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;
  const StudyPages& pages() const { return pages_; }
  void set(StudyPages pages);
  void setLimits(const ServiceLimits& limits);
  void setBookmarks(std::vector<double> bookmarks);
  void setService(const ServiceSpec& service);

 Q_SIGNALS:
  void changed();

 private:
  StudyPages pages_;
};

}  // namespace shardscape::ui
