#!/bin/sh
# Moves a second and latency of a host at 100 and at 1,000 games of instant movers, by the load client of ../shared/tools.
#
#   src/tools/measure/load.sh RENMEI [TOOLS]
#
# RENMEI is the program that is measured: to compare two, run this with one, then with the other, in one sitting, and again.
# TOOLS is the directory of csaload.c and moves_512.txt (../shared/tools). Each row is a line of JSON; a row of a machine
# that is doing something else says nothing.
set -eu
renmei=$1
tools=${2:-$(dirname "$0")/../../../shared/tools}
dir=$(mktemp -d "${TMPDIR:-/tmp}/load-XXXXXX")
host=
trap 'test -z "$host" || kill -KILL $host 2>/dev/null; rm -rf "$dir"' EXIT
cc -O2 -o "$dir/csaload" "$tools/csaload.c"
ulimit -n "$(ulimit -H -n)"

# games plies
row() {
    cat > "$dir/serve.toml" <<CONFIG
[serve]
name = "load"
max_moves = 0
[serve.limits]
connections_per_address = 4000
CONFIG
    rm -f "$dir"/load.db*
    "$renmei" serve "$dir/serve.toml" --listen 127.0.0.1:0 --db "$dir/load.db" --quiet 2> "$dir/host.log" &
    host=$!
    until port=$(sed -n 's/^listening on .*:\([0-9]*\)$/\1/p' "$dir/host.log") && test -n "$port"; do
        kill -0 $host || { cat "$dir/host.log" >&2; exit 1; }
        sleep 0.1
    done
    MOVES="$tools/moves_512.txt" "$dir/csaload" 127.0.0.1 "$port" "$1" "$2" || echo "csaload failed with $?" >&2
    grep VmHWM "/proc/$host/status" >&2
    kill -TERM $host
    wait $host || { echo "the host failed:" >&2; cat "$dir/host.log" >&2; exit 1; }
    host=
}

row 100 500
row 1000 500
