#!/usr/bin/env bash
# What a dependency costs to build: a2a-guard's default features, beside tower-http and tonic.
#
#   benches/compare/scripts/build_cost.sh [ROUNDS]     default: 3
#
# For each a program that uses it and nothing else is built cold (`cargo build --release`, an empty target folder, the
# versions of this workspace's lock file), in turns; the least of the rounds counts, for everything else is the machine's.
# Prints the table in Markdown: crates compiled (macros and build scripts included, the program not), seconds by the clock,
# and seconds of CPU time. Nothing is downloaded while it is timed.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)"
rounds="${1:-3}"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0
unset CARGO_TARGET_DIR RUSTFLAGS CARGO_BUILD_JOBS

# program NAME DEPENDENCY STATEMENT
names=()
program() {
  names+=("$1")
  mkdir -p "$work/$1/src"
  printf '[package]\nname = "hello"\nversion = "0.0.0"\nedition = "2024"\n\n[dependencies]\n%s\n\n[workspace]\n' "$2" >"$work/$1/Cargo.toml"
  printf 'fn main() {\n    %s\n}\n' "$3" >"$work/$1/src/main.rs"
  cp "$root/Cargo.lock" "$work/$1/"
  (cd "$work/$1" && cargo fetch --quiet --target "$(rustc -vV | sed -n 's/^host: //p')")
}

program "a2a-guard" "a2a-guard = { path = \"$root\" }" \
  'println!("{:?}", a2a_guard::Guard::new());'
program "tower-http" 'tower-http = { version = "0.7", features = ["timeout", "trace", "limit", "catch-panic"] }' \
  'println!("{:?}", tower_http::trace::TraceLayer::new_for_http());'
program "tonic" 'tonic = "0.14"' \
  'println!("{:?}", tonic::transport::Endpoint::from_static("http://127.0.0.1"));'

declare -A crates clock cpu
TIMEFORMAT='%R %U %S'
for round in $(seq "$rounds"); do
  for name in "${names[@]}"; do
    rm -rf "$work/$name/target"
    took="$({ time (cd "$work/$name" && cargo build --release --offline >"$work/said" 2>&1) || echo failed; } 2>&1)"
    if [ "${took##*failed*}" != "$took" ]; then
      cat "$work/said" >&2
      exit 1
    fi
    read -r real user system <<<"$took"
    sum="$(awk "BEGIN { print $user + $system }")"
    # The program itself is one of them.
    crates[$name]=$(($(grep -c '^ *Compiling' "$work/said") - 1))
    least() { awk -v a="${1:-}" -v b="$2" 'BEGIN { print (a == "" || b + 0 < a + 0) ? b : a }'; }
    clock[$name]="$(least "${clock[$name]:-}" "$real")"
    cpu[$name]="$(least "${cpu[$name]:-}" "$sum")"
    echo "round $round: $name: ${crates[$name]} crates, $real s, $sum s of CPU time" >&2
    rm -rf "$work/$name/target"
  done
done

features() {
  case $1 in
    a2a-guard) echo 'default features' ;;
    tower-http) echo '`timeout`, `trace`, `limit`, `catch-panic`' ;;
    tonic) echo 'default features' ;;
  esac
}
echo "| a program with | crates | cold release build | CPU time |"
echo "| --- | --- | --- | --- |"
for name in "${names[@]}"; do
  printf '| `%s`, %s | %d | %.1f s | %.1f s |\n' "$name" "$(features "$name")" "${crates[$name]}" "${clock[$name]}" "${cpu[$name]}"
done
