#!/usr/bin/env bash
# tools/test_mpi.sh FOLDER LEVEL [OTHER]: tests the component of MPI of a build folder, oversubscribed on whatever cores there are;
# with MPICH on 1 and 2 ranks only, since its ranks wait without giving way. OTHER: a build folder of the other MPI.
#   - the tests of domains on 1, 2, 3, 4 and 8 ranks; hashes are compared with constants, so that all numbers of ranks agree;
#   - a scene by the program on these numbers of ranks: equal hashes;
#   - scenes and verbs that ranks do not support, and a launcher of another MPI: refused with a sentence;
#   - a rank that is killed: mpirun names it (MPICH: its process), and the run ends.
# Every run is under a timeout: ranks that disagree wait for each other forever.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1
level=$2
other=${3:-}
program=$folder/rattleback
scene=test/cluster/scenes/gas.json
grains=test/cluster/scenes/mixer.json
limit=600
[ "$level" = normal ] || limit=3000

# What OpenMPI needs to run as root and with more ranks than cores; ranks that wait give way to others.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
export RB_TEST_LEVEL=$level
log=$folder/test-mpi.log
: >"$log"

# Without a pipe: grep -q ends at the first match, and ldd, which still writes, would fail the pipe.
if [[ $(ldd "$program") == *libmpich* ]]; then
    launcher=(mpirun.mpich)
    otherLauncher=(mpirun.openmpi --oversubscribe --bind-to none)
    rankVariable=PMI_RANK
    counts=(1 2)
    fileCounts=(1 2)
    killCount=2
    killed='Killed .signal 9'
else
    launcher=("$(command -v mpirun.openmpi || echo mpirun)" --oversubscribe --bind-to none)
    otherLauncher=(mpirun.mpich)
    rankVariable=OMPI_COMM_WORLD_RANK
    counts=(1 2 3 4 8)
    fileCounts=(1 3)
    killCount=3
    killed='process rank 1 .*signal 9'
fi
export rankVariable

# ranks N COMMAND...: runs a command on N ranks.
ranks() {
    local count=$1
    shift
    timeout --kill-after=10 "$limit" "${launcher[@]}" -n "$count" "$@"
}

fail() {
    echo "test-mpi: $1" >&2
    tail -n 40 "$log" >&2
    exit 1
}

# expect CODE NEEDLE COMMAND...: a command that ends with a code and a message.
expect() {
    local code=$1 needle=$2 status=0
    shift 2
    "$@" >"$log" 2>&1 || status=$?
    [ "$status" -eq "$code" ] || fail "'$*' ended with $status instead of $code"
    grep -qF -- "$needle" "$log" || fail "'$*' does not say: $needle"
}

for count in "${counts[@]}"; do
    start=$SECONDS
    # Physics on one rank: the others have the same bits. Sums and partitions need no messages.
    groups=(test_domains test_files test_flow)
    [ "$count" -gt 1 ] || groups+=(test_exact_sum test_partition phys_gas phys_grains)
    for group in "${groups[@]}"; do
        ranks "$count" "$folder/test_cluster" --group "$group" >"$log" 2>&1 || fail "$group failed on $count ranks"
        grep -E '^([0-9]+ spheres|Z |heap)' "$log" | sort -u || true
    done
    # a sphere that rolls from rank to rank, and two that meet across a periodic face
    for test in spheresRollAsInTheBook reboundHasTheRestitution spheresRollOverSeams; do
        ranks "$count" "$folder/test_cluster" --group phys_grains --test "$test" >"$log" 2>&1 ||
            fail "$test failed on $count ranks"
    done
    echo "test-mpi: domain tests on $count ranks passed, $((SECONDS - start)) s"
done

# A gas; and grains of two materials on planes, boxes and a hull, with a driven paddle.
for which in "$scene" "$grains"; do
    hashes=()
    for count in "${counts[@]}"; do
        ranks "$count" "$program" run "$which" --quiet --json >"$log" 2>&1 || fail "$which failed on $count ranks"
        hashes+=("$(sed -nE 's/.*"hash": "([0-9a-f]+)".*/\1/p' "$log")")
    done
    [ "$(printf '%s\n' "${hashes[@]}" | sort -u | wc -l)" -eq 1 ] && [ -n "${hashes[0]}" ] || fail "hashes differ: ${hashes[*]}"
    echo "test-mpi: $which has the hash ${hashes[0]} on ${counts[*]} ranks"
done

expect 2 'the engine of this scene is "flight"; on ranks of MPI runs' ranks 2 "$program" run tumbling-box
expect 2 'body "b[0]" has resistance against spinning' ranks 2 "$program" run "$grains" --set materials.rubber.spinning=0.001
expect 2 'body "a[0]" is not one sphere about its origin' ranks 2 "$program" run "$grains" --set 'geometries.small={"type":"box","size":[0.05,0.05,0.05]}'
expect 2 '--record is not supported on ranks' ranks 2 "$program" run "$scene" --record x.rbr
expect 2 'does not understand' ranks 2 "$program" run "$grains" --inlet '0,0,0,1,1,1 speed=3'
expect 2 "only 'run' and 'bench cluster' work on several" ranks 2 "$program" check "$scene"
expect 2 'the MPI of this program sees one' env PMI_SIZE=4 "$program" run "$scene"
expect 2 'ranks have read different scenes' ranks 2 bash -c \
    'exec "$1" run "$2" --set "duration=0.$((${!rankVariable} + 1))"' _ "$program" "$scene"
expect 3 'moves by more than a period' ranks 2 "$program" run "$scene" --set step.step=20 --duration 100
echo "test-mpi: what ranks do not support is refused"

ranks 2 "$program" bench cluster --quick >"$log" 2>&1 || fail "bench cluster failed on 2 ranks"
grep -q 'messages of a step and rank' "$log" || fail "bench cluster does not count messages"
expect 2 "only 'bench cluster' works on several" ranks 2 "$program" bench math --quick

# Experiments with grains against published laws, on one rank: others have the same bits.
if [ "$level" != quick ]; then
    size=(--quick)
    [ "$level" = normal ] || size=()
    ranks 1 "$program" validate granular "${size[@]}" >"$log" 2>&1 || fail "validate granular fails"
    echo "test-mpi: validate granular: $(tail -n 1 "$log")"
fi

# HDF5 is optional, and so is the library that reads it here: Debian's own interpreter has it.
hasHdf5=no
if grep -q '^RB_HDF5:BOOL=ON' "$folder/CMakeCache.txt"; then
    hasHdf5=yes
else
    expect 2 'configure with RB_HDF5=ON' ranks 2 "$program" run "$grains" --quiet --hdf5 "$folder"
fi
expect 2 '--hdf5 works on ranks of MPI' "$program" run "$grains" --hdf5 "$folder"

# Points for ParaView, and the table of a region, an inlet and an outlet: the same bytes on any ranks.
files=$folder/test-mpi-files
rm -rf "$files"
mkdir "$files"
for count in "${fileCounts[@]}"; do
    hdf5=()
    [ "$hasHdf5" = no ] || hdf5=(--hdf5 "$files/$count")
    ranks "$count" "$program" run "$grains" --quiet --dt 0.2 --vtk-points "$files/$count" "${hdf5[@]}" --csv "$files/$count/table.csv" \
        --inlet '-0.3,-0.3,0.9,0.3,0.3,1.2 rate=100 radius=0.03,0.05 material=glass' --outlet -1,-1,-1,1,0.2,0.1 --region -1,-1,0,1,1,0.3 \
        >"$log" 2>&1 || fail "--vtk-points failed on $count ranks"
done
[ -s "$files/1/mixer_000003.vtp" ] && diff -r "$files/1" "$files/${fileCounts[1]}" >"$log" || fail "points differ on 1 and ${fileCounts[1]} ranks"
[ "$(wc -l <"$files/1/table.csv")" -eq 5 ] || fail "the table has not 5 lines"
if [ "$hasHdf5" = yes ]; then
    if /usr/bin/python3 -c 'import h5py' 2>/dev/null; then
        /usr/bin/python3 tools/check_hdf5.py "$files/1" mixer >"$log" 2>&1 || fail "the frames in HDF5 are not those of the points"
        echo "test-mpi: HDF5 has the same bytes on ${fileCounts[*]} ranks, and h5py reads $(cat "$log")"
    else
        echo "test-mpi: not run: reading HDF5, python3-h5py is not installed"
    fi
fi
echo "test-mpi: points and the table of a flow have the same bytes on ${fileCounts[*]} ranks"

# A rank is killed; the last checkpoint is whole, and other numbers of ranks continue from it to the same hash.
# shellcheck disable=SC2016
status=0
ranks 2 bash -c 'if [ "${!rankVariable}" = 1 ]; then (while [ ! -e "$3" ]; do sleep 0.2; done; sleep 1; kill -KILL $$) & fi
    exec "$1" run "$2" --duration 2000 --checkpoint "$3" --every-simulated 0.02 --quiet' \
    _ "$program" "$grains" "$files/killed.rck" >"$log" 2>&1 || status=$?
[ "$status" -ne 0 ] && [ "$status" -ne 124 ] && [ -s "$files/killed.rck" ] || fail "a killed run ended with $status"
steps=$(od -An -td8 -j24 -N8 "$files/killed.rck" | tr -d ' ')
hashes=()
for count in "${fileCounts[@]}"; do
    cp "$files/killed.rck" "$files/resumed.rck"
    ranks "$count" "$program" run "$grains" --quiet --json --duration "$((steps * 2 + 200))e-3" --resume "$files/resumed.rck" >"$log" 2>&1 || fail "--resume failed on $count ranks"
    hashes+=("$(sed -nE 's/.*"hash": "([0-9a-f]+)".*/\1/p' "$log")")
done
"$program" run "$grains" --domains --quiet --json --duration "$((steps * 2 + 200))e-3" >"$log" 2>&1 || fail "--domains failed"
hashes+=("$(sed -nE 's/.*"hash": "([0-9a-f]+)".*/\1/p' "$log")")
[ "$(printf '%s\n' "${hashes[@]}" | sort -u | wc -l)" -eq 1 ] && [ -n "${hashes[0]}" ] || fail "hashes differ: ${hashes[*]}"
expect 2 'the checkpoint is that of another scene' ranks 2 "$program" run "$grains" --set step.step=0.001 --resume "$files/killed.rck"
echo "test-mpi: a run killed at step $steps continues on ${fileCounts[*]} ranks with the same bits"
rm -rf "$files"

# Rank 1 is killed in the middle of a run that would take minutes. The single quotes are for the shell of the rank.
# shellcheck disable=SC2016
status=0
ranks "$killCount" bash -c 'if [ "${!rankVariable}" = 1 ]; then (sleep 2; kill -KILL $$) & fi; exec "$1" run "$2" --duration 100000 --quiet' \
    _ "$program" "$scene" >"$log" 2>&1 || status=$?
[ "$status" -ne 0 ] && [ "$status" -ne 124 ] || fail "a run with a killed rank ended with $status"
grep -qE "$killed" "$log" || fail "mpirun does not name the rank that was killed"
echo "test-mpi: a killed rank is named and ends the run"

# The launcher of one MPI and the program of another: refused once, instead of N whole copies.
crossed() {
    timeout --kill-after=10 60 "$@" run "$grains" --quiet
}
if [ -n "$other" ]; then
    for command in "${otherLauncher[*]} -n 2 $program" "${launcher[*]} -n 2 $other/rattleback"; do
        # shellcheck disable=SC2086 # words of a command
        expect 2 'the MPI of this program sees one' crossed $command
        [ "$(grep -c 'the MPI of this program sees one' "$log")" -eq 1 ] || fail "the refusal of a launcher is not said once"
    done
    hashes=()
    for which in "$program" "$other/rattleback"; do
        "$which" run "$grains" --domains --quiet --json >"$log" 2>&1 || fail "$which failed"
        hashes+=("$(sed -nE 's/.*"hash": "([0-9a-f]+)".*/\1/p' "$log")")
    done
    [ "${hashes[0]}" = "${hashes[1]}" ] || fail "hashes differ: ${hashes[*]}"
    echo "test-mpi: launchers of another MPI are refused; programs of both have the hash ${hashes[0]}"
fi
