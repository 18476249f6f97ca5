# shellcheck shell=bash disable=SC2034
# What packaging/run and packaging/test share: packages, configuration, build. Source it from the repository's root.

build_packages=(g++ cmake ninja-build qt6-base-dev qt6-svg-dev libqcustomplot-dev libtbb-dev
  nlohmann-json3-dev libprotobuf-dev protobuf-compiler zlib1g-dev libyaml-cpp-dev libtomlplusplus-dev
  pybind11-dev python3-dev python3-numpy libsimdjson-dev libarchive-dev)
# Faster second builds, a faster linker, a faster allocator, the font that the window prefers, software OpenGL: good to
# have, not needed.
optional_packages=(ccache lld libmimalloc-dev fonts-inter libgl1-mesa-dri)

say() { printf '\n== %s\n' "$*"; }

fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

missing_packages() {
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || printf '%s\n' "$package"
  done
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  else
    sudo "$@"
  fi
}

# install_packages NAME...: with apt-get, and only what is not there yet.
install_packages() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "This is no Debian system: taking it that the equivalents of these packages are installed: $*"
    return
  fi
  local missing
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  [ "$(id -u)" = 0 ] || command -v sudo >/dev/null ||
    fail "these packages are missing: ${missing[*]}. Install them as root: apt-get install ${missing[*]}"
  say "Installing ${missing[*]}"
  as_root apt-get update </dev/null || say "apt-get update failed; trying with the lists that are here"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}" </dev/null ||
    fail "apt-get could not install: ${missing[*]}"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${optional_packages[@]}" </dev/null ||
    say "Going on without some of: ${optional_packages[*]}"
}

# Compilers that run at once: one per core, and 3 GiB of memory for each.
build_jobs() {
  local cores kib limit=/sys/fs/cgroup/memory.max
  cores=$(nproc)
  kib=$(awk '/^MemAvailable:/ {print $2}' /proc/meminfo)
  if [ -r $limit ] && [ "$(cat $limit)" != max ]; then
    local allowed=$(($(cat $limit) / 1024))
    [ "$allowed" -ge "$kib" ] || kib=$allowed
  fi
  local jobs=$((kib / (3 * 1024 * 1024)))
  [ "$jobs" -le "$cores" ] || jobs=$cores
  [ "$jobs" -ge 1 ] || jobs=1
  printf '%s\n' "$jobs"
}

# configure_and_build PRESET [TARGET...]: everything where no target is named.
configure_and_build() {
  local preset=$1 jobs targets=()
  shift
  jobs=$(build_jobs)
  [ $# -eq 0 ] || targets=(--target "$@")
  say "Configuring build/$preset"
  cmake --preset "$preset" </dev/null
  say "Building with $jobs jobs"
  cmake --build --preset "$preset" --parallel "$jobs" "${targets[@]}" </dev/null
}
