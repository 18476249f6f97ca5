// operator new of both programs, on mimalloc. The library's own operators do not throw: they abort without a
// word where there is no memory.
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

void* checked(void* memory) {
  if (memory) return memory;
  throw std::bad_alloc();
}

void* allocated(std::size_t size) { return checked(std::malloc(size == 0 ? 1 : size)); }

void* allocated(std::size_t size, std::align_val_t alignment) {
  void* memory = nullptr;
  const bool done = posix_memalign(&memory, static_cast<std::size_t>(alignment), size == 0 ? 1 : size) == 0;
  return checked(done ? memory : nullptr);
}

}  // namespace

void* operator new(std::size_t size) { return allocated(size); }
void* operator new[](std::size_t size) { return allocated(size); }
void* operator new(std::size_t size, std::align_val_t alignment) { return allocated(size, alignment); }
void* operator new[](std::size_t size, std::align_val_t alignment) { return allocated(size, alignment); }
// Blocks of both kinds come from malloc, which mimalloc replaces.
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
