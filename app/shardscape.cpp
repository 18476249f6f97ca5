// Main program of the window.
#include <unistd.h>
#include <QApplication>
#include <QCommandLineParser>
#include <clocale>
#include <cstdio>
#include <optional>
#include <thread>

#include "app/window_flags.h"
#include "base/data_dir.h"
#include "base/fatal.h"
#include "base/version.h"
#include "design/examples.h"
#include "model/library.h"
#include "ui/shell/document.h"
#include "ui/shell/frame_clock.h"
#include "ui/shell/importer.h"
#include "ui/shell/main_window.h"
#include "ui/shell/quit_on_signal.h"
#include "ui/shell/recovery_bar.h"
#include "ui/shell/render_views.h"
#include "ui/shell/report_file.h"
#include "ui/shell/settings.h"
#include "ui/shell/study_file.h"
#include "ui/shell/window_help.h"
#include "ui/shell/windows.h"
#include "ui/toolkit/background_threads.h"
#include "ui/toolkit/theme_choice.h"

namespace {

using namespace shardscape;

constexpr int kBadUsage = 2, kNoDisplay = 3, kFailed = 1;
constexpr const char* kNoDisplayText =
    "shardscape: there is no display for the window (DISPLAY and WAYLAND_DISPLAY name none).\n"
    "Write pictures of all views without a display:  shardscape -platform offscreen --render out/\n"
    "Use the command line without a display:         shardscape-cli --help\n";

bool names_platform(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const QByteArray argument = argv[i];
    if (argument == "-platform" || argument == "--platform" || argument.startsWith("-platform=")) return true;
  }
  return qEnvironmentVariableIsSet("QT_QPA_PLATFORM");
}

bool has_display() {
  return !qEnvironmentVariableIsEmpty("DISPLAY") || !qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY");
}

// Qt aborts if it cannot connect to the display. This handler prints a sentence and exits with a code.
void report_fatal(QtMsgType type, const QMessageLogContext&, const QString& message) {
  std::fprintf(stderr, "%s\n", qPrintable(message));
  if (type != QtFatalMsg) return;
  std::fputs(kNoDisplayText, stderr);
  std::fflush(stderr);
  _exit(kNoDisplay);
}

void set_up(QCommandLineParser& parser) {
  parser.setApplicationDescription(kWindowSummary);
  parser.addHelpOption();
  parser.addVersionOption();
  parser.addPositionalArgument(
      "FILE", "A file to open: a design, a launch, a config.json, a trace or a profile.", "[FILE]");
  for (const WindowFlag& flag : kWindowFlags) parser.addOption({flag.name + 2, flag.help, flag.operand});
}

// Whether the program goes on after its flags: help, a version and a mistake end it, and no thread may run
// then.
bool goes_on(QCommandLineParser& parser, int argc, char** argv) {
  QStringList words;
  for (int i = 0; i < argc; ++i) words << QString::fromLocal8Bit(argv[i]);
  return parser.parse(words) && !parser.isSet("help") && !parser.isSet("help-all") &&
         !parser.isSet("version");
}

// Qt sets the locale of the desktop meanwhile. That of this thread stays.
void read_models() {
  const locale_t plain = newlocale(LC_NUMERIC_MASK, "C", locale_t{});
  const locale_t before = plain ? uselocale(plain) : locale_t{};
  ModelLibrary::instance();
  if (!plain) return;
  uselocale(before);
  freelocale(plain);
}

std::optional<ui::ThemeChoice> theme_named(const QString& name) {
  if (name == "light") return ui::ThemeChoice::Light;
  if (name == "dark") return ui::ThemeChoice::Dark;
  if (name == "system") return ui::ThemeChoice::System;
  return std::nullopt;
}

int usage_error(const QString& text) {
  std::fprintf(stderr, "shardscape: %s\nTry 'shardscape --help'.\n", qPrintable(text));
  return kBadUsage;
}

// If the file is unreadable, the window shows its default design and the reason; stderr has the reason too.
bool open_design(ui::MainWindow& window, const QString& path) {
  const auto echo = QObject::connect(
      window.document(), &ui::Document::failed, &window,
      [](const QString& message) { std::fprintf(stderr, "shardscape: %s\n", qPrintable(message)); });
  const bool opened = window.document()->openPath(path);
  QObject::disconnect(echo);
  return opened;
}

bool open_example(ui::MainWindow& window, const QString& id) {
  const auto example = find_example(id.toStdString());
  if (const auto* problem = std::get_if<Problem>(&example)) {
    std::fprintf(stderr, "shardscape: %s\n", to_string(*problem).c_str());
    return false;
  }
  return window.document()->openExample(QString::fromStdString(std::get<Example>(example).path.string()));
}

int render(ui::MainWindow& window, const QString& folder) {
  const auto result = ui::renderViews(window, folder);
  if (const auto* problem = std::get_if<Problem>(&result)) {
    std::fprintf(stderr, "shardscape: %s\n", to_string(*problem).c_str());
    return kFailed;
  }
  for (const QString& file : std::get<QStringList>(result)) std::printf("%s\n", qPrintable(file));
  return 0;
}

// The page of a report as a PDF.
int print(const QString& page, const QString& pdf) {
  const auto text = read_text(page.toStdString());
  auto problem = std::holds_alternative<Problem>(text)
                     ? std::optional<Problem>(std::get<Problem>(text))
                     : ui::writePdf(QString::fromStdString(std::get<std::string>(text)), pdf);
  if (problem) std::fprintf(stderr, "shardscape: %s\n", to_string(*problem).c_str());
  return problem ? kFailed : 0;
}

}  // namespace

int main(int argc, char** argv) {
  handle_fatal_states();
  ui::lowerLoopHelpers();  // before the first loop
  QCoreApplication::setApplicationName("shardscape");
  QCoreApplication::setApplicationVersion(program_version());
  QCommandLineParser parser;
  set_up(parser);
  const bool shown = names_platform(argc, argv) || has_display();
  // Reads the models while Qt starts.
  const std::jthread library = shown && goes_on(parser, argc, argv) ? std::jthread(read_models)
                                                                    : std::jthread();
  if (!shown) {
    QCoreApplication app(argc, argv);  // for --help and --version
    parser.process(app);
    std::fputs(kNoDisplayText, stderr);
    return kNoDisplay;
  }
  const QtMessageHandler usual = qInstallMessageHandler(report_fatal);
  QApplication app(argc, argv);
  qInstallMessageHandler(usual);
  std::setlocale(LC_NUMERIC, "C");  // Qt sets the locale of the desktop; files and forms have decimal points
  QGuiApplication::setDesktopFileName("shardscape");
  parser.process(app);

  ui::ThemeChoice theme = ui::settings::themeChoice();
  if (const QString name = parser.value("theme"); parser.isSet("theme")) {
    const auto named = theme_named(name);
    if (!named) return usage_error("--theme takes light, dark or system, not \"" + name + "\"");
    theme = *named;
  }
  QStringList designs = parser.positionalArguments();
  if (parser.isSet("design")) designs.prepend(parser.value("design"));
  if (designs.size() > 1)
    return usage_error("unexpected \"" + designs.back() + "\"; one window opens one design");
  ui::ThemeChooser::instance().choose(theme);
  if (parser.isSet("print") != parser.isSet("pdf"))
    return usage_error("--print PAGE and --pdf FILE are given together");
  if (parser.isSet("print")) return print(parser.value("print"), parser.value("pdf"));
  const bool renders = parser.isSet("render");
  const QString unsaved = ui::studyFolder();
  ui::Windows windows(renders ? QString() : unsaved);
  ui::MainWindow& window = *windows.make();
  // What has a preview or a window of its own is opened in front of the window.
  const bool in_front = !designs.isEmpty() && !renders && !ui::Importer::isDocument(designs.front());
  if (!designs.isEmpty() && !in_front && !open_design(window, designs.front()) && renders) {
    return kFailed;  // pictures of the default design would be wrong
  }
  if (parser.isSet("example") && !open_example(window, parser.value("example"))) return kBadUsage;
  const bool named = !designs.isEmpty() || parser.isSet("example");
  if (!named && !renders) window.reopenLast();
  window.session()->waitForReport();  // the window never opens empty
  if (renders) {
    window.session()->waitForEstimate();
    return render(window, parser.value("render"));
  }
  if (const QString log = parser.value("frame-log"); !log.isEmpty() && !window.frameClock()->logTo(log))
    return usage_error("--frame-log cannot write \"" + log + "\"; give a file in a writable folder");
  ui::quitOnSignal(&app);
  window.restoreLayout();
  window.offerUnsaved(unsaved);
  window.show();
  if (in_front) window.openFile(designs.front());
  if (!named && window.recoveryBar()->count() == 0) window.helper()->welcome();
  return app.exec();
}
