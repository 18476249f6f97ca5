// Runs the built shardscape-cli and captures its output.
#pragma once

#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QProcessEnvironment>
#include <QStringList>

#include "support/longest_run.h"

namespace shardscape::test {

struct CliRun {
  int exit_code = -1;
  QString out, err;
  QJsonObject json() const { return QJsonDocument::fromJson(out.toUtf8()).object(); }
};

// extra_env: NAME=value. folder: where it runs; empty is the present one.
inline CliRun run_program(const QString& program, const QStringList& words, const QString& folder,
                          const QStringList& extra_env) {
  QProcess process;
  if (!folder.isEmpty()) process.setWorkingDirectory(folder);
  QProcessEnvironment env = QProcessEnvironment::systemEnvironment();
  for (const QString& entry : extra_env) env.insert(entry.section('=', 0, 0), entry.section('=', 1));
  process.setProcessEnvironment(env);
  process.start(program, words);
  CliRun run;
  if (!process.waitForFinished(kLongestRun) || process.exitStatus() != QProcess::NormalExit) return run;
  run.exit_code = process.exitCode();
  run.out = QString::fromUtf8(process.readAllStandardOutput());
  run.err = QString::fromUtf8(process.readAllStandardError());
  return run;
}

inline CliRun run_cli(const QStringList& words, const QString& folder = {},
                      const QStringList& extra_env = {}) {
  return run_program(SHARDSCAPE_CLI, words, folder, extra_env);
}

// As typed in a shell, without quotes or spaces in words.
inline CliRun run_line(const QString& line, const QString& folder = {}) {
  return run_cli(line.split(' ', Qt::SkipEmptyParts), folder);
}

}  // namespace shardscape::test
