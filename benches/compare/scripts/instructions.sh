#!/usr/bin/env bash
# How many instructions the hot paths execute, beside the committed baseline (baseline/instructions.tsv):
#
#   benches/compare/scripts/instructions.sh            the table; exit 1 beyond 3 % of the baseline
#   benches/compare/scripts/instructions.sh --update   writes the baseline anew: commit it with what changed it
#   benches/compare/scripts/instructions.sh WORD...    only the rows with these words in their names
#
# The counts depend on the compiler, the C library and the processor's features, all of which the baseline names; where
# one of them is another, the rows are printed and not judged. Needs valgrind, which is installed by apt-get where that is
# allowed. Exits 69 if it is missing and cannot be had. Under a minute, once it is built.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."

if ! command -v valgrind >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing valgrind"
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends valgrind >/dev/null ||
    echo "apt-get could not install valgrind" >&2
fi
if ! command -v valgrind >/dev/null; then
  echo "valgrind is not here and cannot be installed: instructions cannot be counted" >&2
  exit 69
fi

mode=--check
for word in "$@"; do
  if [ "$word" = --update ]; then mode=; fi
done
# From the workspace's root and without -p: which features of dependencies are on is a part of what is counted.
exec cargo bench --quiet --bench instructions -- $mode "$@"
