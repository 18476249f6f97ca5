#include "ui/session/page_settings.h"

#include <utility>

namespace shardscape::ui {

void PageSettings::set(StudyPages pages) {
  if (pages == pages_) return;
  pages_ = std::move(pages);
  Q_EMIT changed();
}

void PageSettings::setLimits(const ServiceLimits& limits) {
  StudyPages pages = pages_;
  pages.limits = limits;
  set(std::move(pages));
}

void PageSettings::setBookmarks(std::vector<double> bookmarks) {
  StudyPages pages = pages_;
  pages.bookmarks = std::move(bookmarks);
  set(std::move(pages));
}

void PageSettings::setService(const ServiceSpec& service) {
  StudyPages pages = pages_;
  pages.service = service;
  set(std::move(pages));
}

}  // namespace shardscape::ui
