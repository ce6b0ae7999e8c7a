#!/bin/sh
# Installs cordon from a release's tarball, or removes it again.
#
#   ./install.sh                            from the directory that the tarball unpacks to
#   ./install.sh cordon-…-linux-amd64.tar.gz    from the tarball; SHA256SUMS beside it is checked
#   ./install.sh --remove                   removes the files that it installed
#
# PREFIX says where: /usr/local for root, ~/.local for everybody else.
set -eu
if [ -z "${PREFIX:-}" ]; then
  if [ "$(id -u)" -eq 0 ]; then PREFIX=/usr/local; else PREFIX=$HOME/.local; fi
fi
list=$PREFIX/share/cordon/installed

if [ "${1:-}" = --remove ]; then
  [ -f "$list" ] || { echo "install.sh: nothing of cordon is installed in $PREFIX" >&2; exit 1; }
  while IFS= read -r file; do rm -f "$PREFIX/$file"; done <"$list"
  rm -f "$list"
  rmdir "$PREFIX/share/cordon" 2>/dev/null || true
  echo "removed cordon from $PREFIX"
  exit 0
fi

from=$(dirname "$0")
if [ $# -gt 0 ]; then
  tarball=$1
  [ -f "$tarball" ] || { echo "install.sh: there is no $tarball" >&2; exit 1; }
  sums=$(dirname "$tarball")/SHA256SUMS
  [ -f "$sums" ] || { echo "install.sh: $sums is missing: download it too" >&2; exit 1; }
  want=$(awk -v name="$(basename "$tarball")" '$2 == name { print $1 }' "$sums")
  have=$( (sha256sum "$tarball" 2>/dev/null || shasum -a 256 "$tarball") | awk '{ print $1 }')
  [ -n "$want" ] && [ "$want" = "$have" ] || { echo "install.sh: $tarball is not the file that SHA256SUMS lists: download it again" >&2; exit 1; }
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  tar -xzf "$tarball" -C "$work"
  from=$(echo "$work"/cordon-*)
fi
[ -x "$from/bin/cordon" ] || { echo "install.sh: there is no cordon in $from: name the tarball" >&2; exit 1; }

mkdir -p "$PREFIX/share/cordon"
: >"$list.new"
# put installs one file and notes it.
put() {
  mkdir -p "$PREFIX/$(dirname "$3")"
  install -m "$1" "$2" "$PREFIX/$3"
  echo "$3" >>"$list.new"
}
for program in cordon cordon-probe cordon-fleet; do put 755 "$from/bin/$program" bin/$program; done
for page in "$from"/share/man/man1/*; do put 644 "$page" "share/man/man1/$(basename "$page")"; done
put 644 "$from/share/completions/cordon.bash" share/bash-completion/completions/cordon
put 644 "$from/share/completions/cordon.zsh" share/zsh/site-functions/_cordon
put 644 "$from/share/completions/cordon.fish" share/fish/vendor_completions.d/cordon.fish
mv "$list.new" "$list"
"$PREFIX/bin/cordon" version
case ":$PATH:" in *":$PREFIX/bin:"*) ;; *) echo "add $PREFIX/bin to your PATH" ;; esac
