# Shared by the scripts beside it: where things are, and how a long step shows that it is alive. Sourced, never run.

set -euo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
TOOLS="$ROOT/.tools"

WORKER_BUILD_VERSION=0.8.7
# Must equal the `wasm-bindgen` pin of the root Cargo.toml: the tool refuses the output of another version.
WASM_BINDGEN_VERSION=0.2.130

export PATH="$TOOLS/bin:$HOME/.cargo/bin:$PATH"
# worker-build would otherwise fetch these from GitHub.
export WASM_BINDGEN_BIN="$TOOLS/bin/wasm-bindgen"
export WASM_OPT_BIN="$ROOT/node_modules/binaryen/bin/wasm-opt"
export ESBUILD_BIN="$ROOT/node_modules/esbuild/bin/esbuild"
export WRANGLER_SEND_METRICS=false
# Quiet on networks without GitHub or Cloudflare; nothing here needs either.
export WRANGLER_HIDE_BANNER=true CARGO_TERM_PROGRESS_WHEN=never

# What every bundle is built with, beside Cargo.toml's profile; a release one with more.
wasm_environment() {
  # Only the nightly compiler can rebuild std with unwinding panics.
  export RUSTUP_TOOLCHAIN=nightly RUSTFLAGS=""
  # A panic in a destructor ends the instance, as one during unwinding does anyway: 7 % of the bundle is what follows when
  # every value's end may unwind. A compiler without the flag builds the same Worker, only larger.
  local known
  known="$(rustc -Zhelp)"
  if [[ "$known" == *panic-in-drop* ]]; then RUSTFLAGS+=" -Zpanic-in-drop=abort"; fi
}

release_environment() {
  wasm_environment
  # A panic's place costs a string and an argument at every call that may panic; its message says enough in production.
  RUSTFLAGS+=" -Zlocation-detail=none"
  # Derived `Debug` writes the names of types and variants alone: no message that a client reads needs more.
  RUSTFLAGS+=" -Zfmt-debug=shallow"
  export CARGO_UNSTABLE_BUILD_STD_FEATURES=optimize_for_size
}

# shrink FILE: wasm-opt in place. worker-build's own call of it keeps the names of all functions, a quarter of the bundle. The
# features are those that it enables too: newer encodings are not for this workerd. Functions in the order of their
# names: instances of one generic function are neighbours, and gzip finds what they share.
shrink() {
  local features=(mutable-globals sign-ext nontrapping-float-to-int bulk-memory multivalue reference-types exception-handling)
  node "$WASM_OPT_BIN" "$1" -o "$1.small" -Oz --reorder-functions-by-name --strip-debug --strip-producers \
    "${features[@]/#/--enable-}"
  mv "$1.small" "$1"
}

say() { printf '\n\033[1m==> %s\033[0m\n' "$*"; }
fail() { printf '\n\033[31merror:\033[0m %s\n' "$*" >&2; exit 1; }

# In the background of a step. Takes its sleeper along when it is ended, or a pipe behind the script would stay open.
tick() {
  trap 'kill "$sleeper"; exit' TERM
  while :; do
    sleep 10 & sleeper=$!
    wait "$sleeper"
    printf '    … %s: %d s\n' "$1" "$((SECONDS - $2))"
  done
}

# step TITLE COMMAND...: runs the command with its output, says every ten seconds that it still runs, and how long it
# took. Fails the script when the command fails.
step() {
  local title="$1" started=$SECONDS ticker status=0
  shift
  say "$title"
  tick "$title" "$started" &
  ticker=$!
  "$@" </dev/null || status=$?
  kill "$ticker" 2>/dev/null || true
  wait "$ticker" 2>/dev/null || true
  [ "$status" -eq 0 ] || fail "$title failed with status $status after $((SECONDS - started)) s"
  printf '    %s: done in %d s\n' "$title" "$((SECONDS - started))"
}

# install_tool CRATE VERSION BINARY: into .tools, unless that exact version is there.
install_tool() {
  local crate="$1" version="$2" binary="$TOOLS/bin/$3"
  if [ -x "$binary" ] && [[ "$("$binary" --version 2>/dev/null)" == *"$version"* ]]; then return; fi
  step "Installing $crate $version (once, several minutes)" \
    cargo install "$crate" --version "$version" --root "$TOOLS" --target-dir "$TOOLS/build" --force
}
