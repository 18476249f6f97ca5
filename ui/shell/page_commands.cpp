#include "ui/shell/page_commands.h"

#include "serving/service/service_spec.h"
#include "ui/toolkit/setting_row.h"
#include "ui/toolkit/value_scale.h"
#include "ui/views/explore/explore_view.h"
#include "ui/views/requests/requests_page.h"
#include "ui/views/requests/spec_editor.h"

namespace shardscape::ui {
namespace {

QVector<QPair<QString, QString>> choices_of(const ServiceSetting& setting) {
  QVector<QPair<QString, QString>> out;
  if (setting.kind == SettingKind::Switch)
    return {{QStringLiteral("true"), QObject::tr("on")}, {QStringLiteral("false"), QObject::tr("off")}};
  for (const char* choice : setting.choices)
    out.push_back({QString::fromLatin1(choice), QString::fromLatin1(choice).replace(u'-', u' ')});
  return out;
}

// The settings of the selected engine, and those of all engines.
void add_settings(QVector<Command>& out, SpecEditor* editor, const std::function<void()>& show) {
  for (const ServiceSetting& setting : service_settings()) {
    if (check_engine(editor->spec(), setting)) continue;
    const std::string id = setting.id;
    out.push_back({QObject::tr("Requests"), text_of(setting.label), text_of(setting.text(editor->spec())),
                   text_of(id),
                   [=] {
                     show();
                     editor->focusField(id);
                   },
                   [=](const QString& value) {
                     show();
                     editor->focusField(id);
                     editor->row(id)->enter(value);
                   },
                   false, choices_of(setting)});
  }
}

}  // namespace

QVector<Command> pageCommands(ExploreView* explore, const std::function<void()>& show) {
  QVector<Command> out;
  const auto go = [=](int page) {
    show();
    explore->showPage(page);
  };
  const QStringList pages = ExploreView::pageNames();
  for (int page = 0; page < pages.size(); ++page)
    out.push_back({QObject::tr("View"), pages[page], QObject::tr("page of Explore"), {}, [=] { go(page); }});
  auto* requests = qobject_cast<RequestsPage*>(explore->requests());
  if (!requests) return out;
  const auto to_requests = [=] { go(ExploreView::Requests); };
  const QStringList pictures = RequestsPage::pictureNames();
  for (int shown = 0; shown < pictures.size(); ++shown)
    out.push_back({QObject::tr("View"),
                   QObject::tr("Requests: %1").arg(pictures[shown].toLower()),
                   QObject::tr("picture of Requests"),
                   {},
                   [=] {
                     to_requests();
                     requests->showPicture(static_cast<RequestsPage::Shown>(shown));
                   }});
  out.push_back({QObject::tr("Requests"), QObject::tr("Sweep the rate"), {}, QObject::tr("load knee"), [=] {
                   to_requests();
                   requests->startSweep();
                 }});
  add_settings(out, requests->editor(), to_requests);
  return out;
}

}  // namespace shardscape::ui
