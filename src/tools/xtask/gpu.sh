# What `renmei-deep` does on a device, in one file to send to somebody who has none; `cargo xtask gpu` starts it. A command that
# fails does not keep the others from running.
# $1 file, $2 device, $3 seconds a row of the bench, $4 games of the match, $5 its clock, $6 directory of its database
file=$1 device=$2 seconds=$3 games=$4 time=$5 database=$6/gpu.db
failed=0
# Variables about the program that started this: build scripts that watch them would build anew.
unset $(env | sed -n 's/^\(CARGO_\(PKG\|MANIFEST\)_[A-Z_]*\)=.*/\1/p')

step() {
    echo "$1" >&2
    printf '# %s\n\n' "$1" >>"$file"
}

# Runs a command with its words in the file, and how it ended.
told() {
    printf '$ %s\n' "$*" >>"$file"
    begun=$(date +%s)
    "$@" </dev/null >>"$file" 2>&1
    status=$?
    [ "$status" -eq 0 ] || failed=$((failed + 1))
    printf -- '-> exit status: %s, %s s\n\n' "$status" $(($(date +%s) - begun)) >>"$file"
}

bench() {
    told renmei-deep bench --device "$device" --seconds "$seconds" --callers 3 --search-threads 3 --memory 2048 "$@"
}

: >"$file"
step "Machine"
told git describe --always --dirty
told uname -srm
told nproc
told nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm,power.limit --format=csv
step "An answer of the network"
told renmei-deep ask --device "$device" engines/deep/weights/small.toml startpos
step "Speed: forward alone, evaluation, search"
bench --batches 1,8,32,128,512,2048 --search-batch 128
bench --batches 16 --search-batch 16
bench --batches 512 --search-batch 512
step "Tests"
told cargo test --release --package renmei-deep
step "A match: this device against the processor, equal time"
# Both sides have the same network and the same time for each move. The threads of a search wait for the GPU: they need no cores.
told renmei match --engine cmd=renmei-deep name=device "option.Device=$device" \
    --engine cmd=renmei-deep name=processor option.Device=cpu --games "$games" --time "$time" --concurrency 1 \
    --no-dashboard --oversubscribe --db "$database"
told renmei report "$database"

echo "# $failed commands failed" >>"$file"
echo "$failed commands failed; send $file" >&2
[ "$failed" -eq 0 ]
