#!/usr/bin/env bash
# Compares a device with the explorer and measures it: measure.sh PROGRAM OUT. PROGRAM is the example `device`, run from the repository's root.
set -u
program=$1
out=$2
nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.sm,clocks.mem --format=csv > "$out/machine.log" 2>&1
run() { # SECONDS LOG ARGUMENTS...
    local seconds=$1 log=$2
    shift 2
    timeout --kill-after=5 "$seconds" "$program" "$@" >> "$out/$log" 2>&1 || echo "ended with $?: $*" >> "$out/$log"
}
models=benches/spin
rate() { # SECONDS MODEL [NAME=VALUE]...
    local seconds=$1 model=$2
    shift 2
    run $((seconds + 15)) rates.log rate "$seconds" "$models/$model.rml" sc "$@"
}

wants() { case " ${parts:-rates memories large profile compare} " in *" $1 "*) ;; *) return 1 ;; esac }

if wants rates; then
    rate 15 philosophers N=12
    rate 15 philosophers N=14
    rate 15 philosophers N=15
    rate 15 transaction N=4 ROUNDS=12
    rate 15 transaction N=4 ROUNDS=20
    rate 15 acquire1 N=8 ROUNDS=6
    rate 15 acquire1 N=9 ROUNDS=6
    rate 15 acquire2 N=7 ROUNDS=5 LINES=100
    rate 15 bluetooth N=8 ROUNDS=4
    rate 15 acquire1_instrumented N=7 ROUNDS=6
    rate 15 acquire2_instrumented N=6 ROUNDS=4 LINES=100
    rate 15 transaction_instrumented N=4 ROUNDS=12
    rate 15 bluetooth_instrumented N=6 ROUNDS=9
    rate 15 peterson N=5
    rate 20 peterson N=6
    rate 15 mcs N=6
    rate 20 mcs N=7
    rate 15 mcrt N=2 VARS=5 OPS=3
    rate 15 mcrt N=3 VARS=2 OPS=3
fi
if wants memories; then
    run 30 memories.log reduced 20 library/stm/tl2.rml sc threads=2 vars=2
    run 30 memories.log reduced 20 library/stm/mcrt.rml sc threads=3 vars=2
    run 60 memories.log reduced 50 library/stm/tl2.rml sc threads=2 vars=3
    run 30 memories.log reduced 20 library/stm/dstm.rml sc threads=2 vars=3
    run 70 memories.log reduced 60 library/stm/tl2.rml sc threads=3 vars=2
    run 50 memories.log reduced 40 library/stm/dstm.rml sc threads=3 vars=2
    run 50 memories.log reduced 40 library/stm/mcrt.rml sc threads=3 vars=3
    run 50 memories.log reduced 40 library/stm/mcrt.rml sc threads=2 vars=4
fi
if wants large; then
    run 60 rates.log rate 40 "$models/transaction.rml" sc N=4 ROUNDS=32
fi
if wants profile; then
    ncu=$(command -v ncu || ls /usr/local/cuda/bin/ncu /opt/nvidia/nsight-compute/*/ncu 2> /dev/null | head -1)
    metrics=gpu__time_duration.sum,dram__bytes_read.sum,dram__bytes_write.sum,lts__t_sectors.sum,lts__t_sectors_op_read.sum
    metrics=$metrics,lts__t_sectors_op_atom.sum,smsp__inst_executed.sum,sm__warps_active.avg.pct_of_peak_sustained_active
    timeout 60 "$ncu" --clock-control none -k regex:expand -s 150 -c 2 --metrics "$metrics" --csv \
        "$program" rate 30 "$models/philosophers.rml" sc N=14 > "$out/profile.log" 2>&1
fi
if wants compare; then
    run 170 compare.log compare
fi
