#!/usr/bin/env bash
# Installs the SDKs of the live peers, each at the versions that its requirements or lock file names:
#
#   tests/peers/servers/setup.sh [FOLDER]        default: target/live-peers of this workspace
#
# What stands there already is kept. Needs Python 3.10 with venv, and Node.js 20 with npm; what is missing is installed
# by apt-get where that is allowed. Exits 69 if a tool is missing and cannot be had: then the live peers cannot run here.
set -euo pipefail
servers="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
folder="${1:-$servers/../../../target/live-peers}"
mkdir -p "$folder"
folder="$(cd "$folder" && pwd)"

python_fits() { python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; }
node_fits() { [ "$(node -p 'process.versions.node.split(".")[0]' 2>/dev/null || echo 0)" -ge 20 ] && command -v npm >/dev/null; }

# have NAME CHECK PACKAGE...: CHECK holds, if need be after the packages were installed.
have() {
  local name="$1" check="$2"
  shift 2
  if "$check"; then return; fi
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "installing $*"
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null ||
      echo "apt-get could not install $*" >&2
  fi
  if ! "$check"; then
    echo "$name is not here and cannot be installed: the live peers that need it cannot run" >&2
    return 69
  fi
}

# fresh FOLDER FILE...: whether what is installed there was installed from these very files.
stamp() { cat "$@" | cksum; }
fresh() {
  local at="$1"
  shift
  [ -f "$at/installed" ] && [ "$(cat "$at/installed")" = "$(stamp "$@")" ]
}

python_peer() {
  local version="$1" at="$folder/python-$1" wanted="$servers/python/requirements-$1.txt"
  if fresh "$at" "$wanted"; then return; fi
  echo "installing a2a-sdk $version for Python"
  rm -rf "$at"
  python3 -m venv "$at"
  "$at/bin/pip" install --quiet --disable-pip-version-check --retries 5 --requirement "$wanted"
  stamp "$wanted" >"$at/installed"
}

js_peer() {
  local version="$1" at="$folder/js-$1" from="$servers/js-$1"
  if fresh "$at" "$from/package.json" "$from/package-lock.json"; then return; fi
  echo "installing @a2a-js/sdk $version"
  rm -rf "$at"
  mkdir -p "$at"
  cp "$from/package.json" "$from/package-lock.json" "$at"
  (cd "$at" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
  stamp "$from/package.json" "$from/package-lock.json" >"$at/installed"
}

missing=0
if have "Python 3.10 with venv" python_fits python3 python3-venv; then
  python_peer 1.3
  python_peer 0.3
else
  missing=69
fi
if have "Node.js 20 with npm" node_fits nodejs npm; then
  js_peer 1.3
  js_peer 0.3
else
  missing=69
fi
[ "$missing" != 0 ] || echo "the SDKs of the live peers stand in $folder"
exit "$missing"
