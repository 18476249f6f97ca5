// The flags of the window program: its parser, its manual page and its shell completions read them.
#pragma once

namespace shardscape {

struct WindowFlag {
  const char* name;     // "--theme"
  const char* operand;  // "FILE"; choices are separated by bars
  const char* help;
};

inline constexpr WindowFlag kWindowFlags[] = {
    {"--theme", "light|dark|system",
     "Light, dark, or system (as the desktop). Default: the choice of the last run; system in the first "
     "run."},
    {"--design", "FILE", "A saved design (JSON) to open."},
    {"--example", "ID", "An example to open; \"shardscape-cli examples\" lists them."},
    {"--frame-log", "FILE",
     "Write latencies to FILE (CSV): each input, milliseconds to the next painted frame, and to the frame "
     "with "
     "the new figures."},
    {"--render", "DIR", "Write a picture of every view to DIR and quit."},
    {"--print", "PAGE", "Write the report PAGE (a web page of shardscape-cli) to a PDF file and quit."},
    {"--pdf", "FILE", "The file that --print writes."}};

inline constexpr const char*
    kWindowSummary = "Design-space explorer for distributed training and inference of large language models.";

}  // namespace shardscape
