#!/usr/bin/env bash
# Measures, and writes what was measured into README.md, between its markers:
#
#   benches/compare/scripts/figures.sh                         everything, about ten minutes on a machine with nothing else to do
#   benches/compare/scripts/figures.sh instructions|baseline|end_to_end|build...
#
# The instructions are written into their baseline too.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
cd "$here/../../.."
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT

# put NAME: what comes in replaces what stands in README between this name's marker and the next end.
put() {
  cat >"$folder/table"
  awk -v name="$1" -v table="$folder/table" '
    $0 == "<!-- figures: " name " -->" { print; while ((getline line < table) > 0) print line; within = 1; found = 1 }
    $0 == "<!-- end of figures -->" { within = 0 }
    !within
    END { exit !found }
  ' README.md >"$folder/readme"
  cp "$folder/readme" README.md
}

conditions() {
  local model cores load
  model="$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)"
  cores="$(nproc 2>/dev/null || echo '?')"
  load="$(cut -d ' ' -f 1 /proc/loadavg 2>/dev/null || echo '?')"
  echo
  echo "$(rustc -V | cut -d ' ' -f 1,2), $cores cores of ${model:-an unknown processor}, load before it began: $load."
}

# The rows that README shows, out of the baseline.
instructions() {
  local machine
  machine="$(sed -n 's/^counted with\t//p' benches/compare/baseline/instructions.tsv)"
  awk -F '\t' '
    { count[$1] = $3 }
    function of(name) { return name in count ? grouped(int(count[name] + 0.5)) : "?" }
    function grouped(n,   text) { for (text = ""; n >= 1000; n = int(n / 1000)) text = sprintf(",%03d", n % 1000) text; return n text }
    function call(title, row) { printf "| %s | %s | %s | %s |\n", title, of("JSONRPC, 1 KiB: " row), of("HTTP+JSON, 1 KiB: " row), of("GRPC, 1 KiB: " row) }
    function event(title, row) { printf "| %s | %s | | %s |\n", title, of("SSE, 384 B a frame: " row), of("gRPC, 384 B a frame: " row) }
    END {
      print "| instructions of | JSONRPC | HTTP+JSON | GRPC |\n| --- | --- | --- | --- |"
      call("a call of 1 KiB there and back: `CallLayer`", "CallLayer")
      call("`TerminalStateLayer`", "TerminalStateLayer")
      call("`RefusalResponseLayer`, nothing failing", "RefusalResponseLayer over it")
      call("`Guard`, card and endpoint known", "Guard")
      event("an event or message of 384 B: `TerminalStateLayer`", "TerminalStateLayer")
      event("`Guard`", "Guard")
      printf "| a card that is held; a skill and endpoint that are known | %s; %s | | |\n", of("hit: CardConsistencyLayer"), of("hit: ProbeCacheLayer")
    }
  ' benches/compare/baseline/instructions.tsv
  echo
  echo "Counted with $machine."
}

measure() {
  case $1 in
    instructions)
      "$here/instructions.sh" --update
      instructions | put instructions
      ;;
    # What is in the baseline, without counting again.
    baseline) instructions | put instructions ;;
    end_to_end)
      conditions >"$folder/conditions"
      cargo bench --quiet --bench end_to_end -- --markdown >"$folder/measured"
      cat "$folder/measured" "$folder/conditions" | put end_to_end
      ;;
    build)
      conditions >"$folder/conditions"
      "$here/build_cost.sh" >"$folder/measured"
      cat "$folder/measured" "$folder/conditions" | put build
      ;;
    *)
      echo "instructions, baseline, end_to_end or build, not $1" >&2
      exit 64
      ;;
  esac
}

[ $# -gt 0 ] || set -- instructions end_to_end build
for what in "$@"; do
  measure "$what"
done
