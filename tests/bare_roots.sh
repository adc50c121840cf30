#!/usr/bin/env bash
# Runs ./tril demo and ./tril test on bare Debian roots, where nothing but the base system is installed, so that a
# package missing from scripts/packages.txt can't hide:
#   tests/bare_roots.sh [RELEASE…]        default: bookworm trixie; needs root, debootstrap and the packages' network
# Each root is made anew by debootstrap (minbase) under build/roots/, gets a clean clone of what is committed here, and
# runs the two commands: in the first root as root, in the others as a user with sudo. The packages' address, proxies
# and certificates are this machine's own. It ends with a line for each root and returns 1 where one failed.
set -euo pipefail
cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
checkout=$PWD

((EUID == 0)) || { echo "bare_roots: debootstrap and chroot need root" >&2 && exit 2; }
command -v debootstrap >/dev/null || { echo "bare_roots: apt-get install debootstrap" >&2 && exit 2; }
(($# > 0)) || set -- bookworm trixie

# The archive that this machine's own apt uses for its release.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1)
[[ -n $mirror ]] || { echo "bare_roots: apt has no package source here" >&2 && exit 2; }

make_root() {
  local release=$1 place=$2 include=sudo
  [[ $mirror != https:* ]] || include+=,ca-certificates
  rm -rf "$place"
  mkdir -p "$place"
  debootstrap --variant=minbase --include="$include" "$release" "$place" "$mirror" >"$place.log" 2>&1
  cp /etc/resolv.conf /etc/hosts "$place/etc/"
  apt-config dump Acquire | grep -E '::(Proxy|Check-|.*Ca)' >"$place/etc/apt/apt.conf.d/99host" || true
  if [[ -f /etc/ssl/certs/ca-certificates.crt && $mirror == https:* ]]; then
    cp /etc/ssl/certs/ca-certificates.crt "$place/etc/ssl/certs/"
  fi
  chroot "$place" useradd --create-home --shell /bin/bash learner
  echo 'learner ALL=(ALL) NOPASSWD: ALL' >"$place/etc/sudoers.d/learner"
  git clone -q --no-hardlinks "$checkout" "$place/srv/tril"
  chroot "$place" chown -R learner: /srv/tril
}

# in_root PLACE USER COMMAND: with /proc, /dev and /dev/shm, which are gone again when it ends.
in_root() {
  unshare --mount bash -c '
    mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" || exit
    exec chroot "$1" /usr/sbin/runuser -u "$2" -- env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C "${@:4}" \
      bash -c "cd /srv/tril && $3"' in_root "$1" "$2" "$3" ${http_proxy:+http_proxy="$http_proxy"} \
    ${https_proxy:+https_proxy="$https_proxy"}
}

user=root
results=()
for release in "$@"; do
  place=$checkout/build/roots/$release
  echo "== $release, as $user"
  make_root "$release" "$place"
  for words in demo test; do
    began=$SECONDS
    if in_root "$place" "$user" "./tril $words" </dev/null; then outcome=passed; else outcome=failed; fi
    results+=("$outcome: $release, as $user: ./tril $words ($((SECONDS - began)) s)")
  done
  user=learner
done
printf '%s\n' "${results[@]}"
[[ "${results[*]}" != *failed:* ]]
