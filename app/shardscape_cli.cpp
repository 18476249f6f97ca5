#include "app/cli/cli.h"

int main(int argc, char** argv) { return shardscape::run_cli(argc, argv); }
