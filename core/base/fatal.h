// The last words of a program that the system gives no memory or no thread, and signals that are messages.
#pragma once

#include <exception>
#include <string>

namespace shardscape {

// For people: what the exception says about the machine, and what to do.
std::string fatal_text(const std::exception& error);

// Call once, first in main(). An exception that nobody catches ends the program with a message on stderr and
// exit code 3. A limit on the size of files is an error of the write, where the system would end the program
// by SIGXFSZ. Standard descriptors that are closed stay closed to files that the program opens.
void handle_fatal_states();

}  // namespace shardscape
