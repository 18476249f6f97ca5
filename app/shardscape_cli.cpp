#include "app/cli/cli.h"
#include "base/fatal.h"

int main(int argc, char** argv) {
  shardscape::handle_fatal_states();
  return shardscape::run_cli(argc, argv);
}
