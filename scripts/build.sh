# Sourced by ./tril (and by .ci/run): finds missing packages, installs them, configures, builds. All it says goes to
# standard error. It leaves out systems without apt: there CMake says what it lacks, and nothing is installed.
# Uses: $root, the checkout (made absolute here); TRIL_CMAKE_FLAGS, extra words for a first configuration; TRIL_INSTALL=no to install nothing.

root=$(cd -P -- "$root" && pwd) || exit 2

say() { printf 'tril: %s\n' "$*" >&2; }

# wanted USE…: the packages of these uses, one a line.
wanted() {
  local package use rest
  while read -r package use rest; do
    [[ -n $package && $package != \#* && " $* " == *" $use "* ]] && echo "$package"
  done <"$root/scripts/packages.txt"
  return 0
}

# missing USE…: those of them that are not installed, one a line.
missing() {
  local names installed name
  names=$(wanted "$@")
  # shellcheck disable=SC2086  # names are words
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $names 2>/dev/null)
  for name in $names; do
    [[ $'\n'$installed$'\n' == *$'\n'"installed $name"$'\n'* ]] || echo "$name"
  done
}

# install_missing USE…: installs them from the distribution's packages, or says in one line which and how.
install_missing() {
  command -v dpkg-query >/dev/null && command -v apt-get >/dev/null || return 0
  local names as_root=(env) log=$root/build/install.log began=$SECONDS network=yes name unknown=
  names=$(missing "$@")
  [[ -n $names ]] || return 0
  names=${names//$'\n'/ }
  if [[ ${TRIL_INSTALL-} == no ]]; then
    say "packages are missing: $names. Get them with: apt-get install $names"
    return 2
  fi
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
      say "packages are missing: $names. You are not root and have no sudo; as root: apt-get install $names"
      return 2
    fi
    as_root=(sudo)
    [[ -t 0 ]] || as_root+=(-n)
    as_root+=(env)
    for name in http_proxy https_proxy; do
      [[ -n ${!name-} ]] && as_root+=("$name=${!name}")
    done
  fi
  as_root+=(DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
  say "installing with apt-get (a minute or two; log: $log): $names"
  "${as_root[@]}" -o APT::Update::Error-Mode=any update >"$log" 2>&1 </dev/null || network=no
  # shellcheck disable=SC2086  # names are words
  if "${as_root[@]}" install -y --no-install-recommends $names >>"$log" 2>&1 </dev/null; then
    say "installed in $((SECONDS - began)) s"
    return 0
  fi
  names=$(missing "$@")
  names=${names//$'\n'/ }
  for name in $names; do
    apt-cache show "$name" >/dev/null 2>&1 || unknown+=" $name"
  done
  if [[ $network == no ]]; then
    say "could not install $names: the package lists can't be fetched (no network?). When it is back: apt-get update && apt-get install $names (log: $log)"
  elif [[ -n $unknown ]]; then
    say "could not install$unknown: not among this system's packages; tril is made for Debian 12 and 13 (log: $log)"
  else
    say "could not install $names: $(grep -m1 '^E: ' "$log" || tail -n1 "$log") (log: $log)"
  fi
  return 2
}

# How many compilers at once: every core, but no more than memory allows at 1.2 GB each.
jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable/ {print int($2 / 1200000)}' /proc/meminfo 2>/dev/null)
  [[ -n $memory ]] && ((memory < cores)) && cores=$((memory < 1 ? 1 : memory))
  echo "$cores"
}

# moved PRESET: true where build/PRESET was configured for a checkout at another place.
moved() {
  local cache=$root/build/$1/CMakeCache.txt
  [[ -f $cache ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache"
}

configure() {
  local preset=$1 log=build/configure.log flags
  read -ra flags <<<"${TRIL_CMAKE_FLAGS-}"
  moved "$preset" && flags+=(--fresh)
  cmake --preset "$preset" "${flags[@]}" >"$log" 2>&1 && return
  sed -n '/^CMake Error/,$p' "$log" >&2
  say "configuration failed (log: $root/$log)"
  return 2
}

# build PRESET TARGET: brings build/PRESET up to date; several may call it at once. A failure shows the compiler's
# lines and returns 2, and the stamp stays old, so nothing stale is run later either.
build() {
  local preset=$1 target=$2 stamp=$root/build/$1/.built-$2
  if ! mkdir -p "$root/build/$preset" 2>/dev/null || [[ ! -w $root/build/$preset ]]; then
    say "can't write to $root/build/$preset, and the program there is not up to date"
    return 2
  fi
  exec 9>"$root/build/.lock"
  if ! flock -n 9; then
    say "waiting for another build"
    flock 9
  fi
  local status=0
  if moved "$preset" || ! fresh "$stamp"; then
    (build_locked "$preset" "$target") 9>&- || status=$?
  fi
  exec 9>&-
  return $status
}

build_locked() {
  local preset=$1 target=$2 began=$SECONDS log=build/build.log new_packages=no
  cd -P -- "$root" || return 2
  [[ -z $(missing build test bench) ]] || new_packages=yes
  install_missing build test bench || return
  touch "build/$preset/.began-$target"  # an edit from here on is newer than the stamp
  if [[ $new_packages == yes || ! -f build/$preset/build.ninja ]] || moved "$preset"; then
    say "building (the first time takes some minutes)"
    configure "$preset" || return
  elif [[ /var/lib/dpkg/status -nt build/$preset/build.ninja ]]; then  # optional packages may have come or gone
    configure "$preset" || return
  fi
  local words=(--build "build/$preset" --target "$target" --parallel "$(jobs)")
  if [[ -t 2 ]]; then
    NINJA_STATUS='[%f/%t, %e s] ' cmake "${words[@]}" >&2
  else
    cmake "${words[@]}" -- --quiet >"$log" 2>&1 || { cat "$log" >&2 && false; }
  fi || {
    say "the build failed: the compiler's lines are above"
    return 2
  }
  mv "build/$preset/.began-$target" "build/$preset/.built-$target"
  ((SECONDS - began < 5)) || say "built in $((SECONDS - began)) s"
}
