#!/usr/bin/env bash
# Checks the result of cmake --install as a user sees it: from the installed tree, outside of the source tree.
#
#   RB_BINARY_DIR=build/release CC=cc test/install/check.sh CASE
#
# CASE is the name of one of the functions case_... below; "tree" comes first.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
binary=$(cd "$RB_BINARY_DIR" && pwd)
prefix=$binary/install-test
library=$prefix/lib
export PKG_CONFIG_PATH=$library/pkgconfig
warnings="-Wall -Wextra -Wpedantic -Werror"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
    echo "install: $*" >&2
    exit 1
}

# quietly COMMAND...: runs it and shows its output only if it fails.
quietly() {
    "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "failed: $*"; }
}

# contains ARGUMENTS...: grep that reads all of its input, so that the writer does not fail.
contains() {
    grep "$@" >/dev/null
}

case_tree() {
    rm -rf "$prefix"
    quietly cmake --install "$binary" --prefix "$prefix"
    [ "$(readlink "$library/librattleback.so")" = librattleback.so.0.1 ] || fail "librattleback.so is not a link to librattleback.so.0.1"
    for name in rattleback rattleback_io rattleback_lab; do
        readelf -d "$library/lib$name.so" | contains "soname: \[lib$name\.so\.0\.1\]" || fail "lib$name.so has another soname"
        [ -f "$library/lib$name.a" ] || fail "lib$name.a is missing"
    done
}

# run_example FOLDER PROGRAM: an example checks its own physics and prints its result.
run_example() {
    local output
    output=$("$2") || fail "example $1 failed: $output"
    [ -n "$output" ] || fail "example $1 printed nothing"
    echo "$1: $(tail -n 1 <<<"$output")"
}

# All examples with find_package, each with its own CMakeLists.txt.
build_package() {
    cp -r "$prefix/share/doc/rattleback/examples" .
    { echo "cmake_minimum_required(VERSION 3.21)"; echo "project(all LANGUAGES C CXX)"; } >examples/CMakeLists.txt
    for folder in examples/*/; do
        echo "add_subdirectory($(basename "$folder"))" >>examples/CMakeLists.txt
    done
    quietly cmake -S examples -B built -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DSTATIC="$1" -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_C_FLAGS="$warnings" -DCMAKE_CXX_FLAGS="$warnings"
    quietly cmake --build built
    for folder in examples/*/; do
        folder=$(basename "$folder")
        run_example "$folder" "built/$folder/${folder//-/_}"
    done
}

case_package-shared() {
    build_package OFF
    readelf -d built/event/event | contains 'librattleback\.so\.0\.1' || fail "the example is not linked with the shared library"
}

case_package-static() {
    build_package ON
    ! readelf -d built/event/event | contains librattleback || fail "the example is linked with the shared library"
}

# All examples with pkg-config, each with its own Makefile; those in C also as C++17.
build_pkgconfig() {
    cp -r "$prefix/share/doc/rattleback/examples" .
    for folder in examples/*/; do
        name=$(basename "$folder")
        quietly make -C "$folder" STATIC="$1" CFLAGS="$warnings" CXXFLAGS="$warnings"
        LD_LIBRARY_PATH=$library run_example "$name" "$folder/${name//-/_}"
        if [ -f "$folder/main.c" ]; then
            sed 's/\$(CC) -std=c17 \(.*\) \$</g++ -std=c++17 -x c++ \1 $< -x none/' "$folder/Makefile" >"$folder/Makefile.cxx"
            quietly make -C "$folder" -B -f Makefile.cxx STATIC="$1" CFLAGS="$warnings"
            LD_LIBRARY_PATH=$library run_example "$name in C++17" "$folder/${name//-/_}"
        fi
    done
}

case_pkgconfig-shared() {
    build_pkgconfig ""
}

case_pkgconfig-static() {
    build_pkgconfig 1
    ! readelf -d examples/event/event | contains NEEDED || fail "the example is not linked statically"
}

# public_names HEADER...: the functions that headers declare.
public_names() {
    sed 's|//.*||' "$@" | tr '\n' ' ' | grep -oE 'RB_API [^;({]*[ *]rb[A-Za-z0-9_]+\(' | sed -E 's/^.*[ *](rb[A-Za-z0-9_]+)\($/\1/' | sort -u
}

# Every function that a header of a component declares can be linked from that component.
case_components() {
    while read -r room headers; do
        case $room in
        \#* | "" | files | src/cluster) continue ;; # src/cluster: only with MPI
        src/io/*) component=io package=rattleback-io ;;
        lab | lab/*) component=lab package=rattleback-lab ;;
        *) component=core package=rattleback ;;
        esac
        for header in $headers; do
            printf '%s %s %s\n' "$component" "$package" "$header"
        done
    done <"$source/tools/layers.txt" | sort -u >headers.txt
    listed=$(cut -d' ' -f3 headers.txt | sort -u)
    installed=$(cd "$prefix/include/rattleback" && find . -name '*.h' | sed 's|^\./||' | sort)
    [ "$listed" = "$installed" ] || fail "tools/layers.txt and the installed headers differ: $(diff <(echo "$listed") <(echo "$installed"))"
    for package in $(cut -d' ' -f2 headers.txt | sort -u); do
        mapfile -t files < <(awk -v package="$package" '$2 == package {print $3}' headers.txt)
        {
            printf '#include <rattleback/%s>\n' "${files[@]}"
            echo "typedef void Function(void);"
            echo "Function* const functions[] = {"
            public_names "${files[@]/#/$prefix/include/rattleback/}" | sed 's/.*/    (Function*)&,/'
            echo "};"
            echo "int main(void) { return functions[0] == 0; }"
        } >all.c
        for static in "" 1; do
            # shellcheck disable=SC2046 # word splitting is intended
            quietly "$CC" -std=c17 -Wno-cast-function-type ${static:+-static} all.c -o all \
                $(pkg-config ${static:+--static} --cflags --libs "$package")
            LD_LIBRARY_PATH=$library ./all || fail "the functions of $package cannot be linked"
        done
        echo "$package: $(grep -c '(Function\*)' all.c) functions"
    done
}

# The shared libraries export names with rb only, and the public ones are exactly those of the headers.
case_symbols() {
    find "$prefix/include/rattleback" -name '*.h' -exec cat {} + >all.h
    public_names all.h >declared.txt
    for file in "$library"/librattleback*.so; do
        names=$(nm -D --defined-only "$file" | awk '{print $NF}')
        ! grep -v '^rb' <<<"$names" || fail "$file exports names that do not start with rb"
        grep '@@rb_0\.1$' <<<"$names" | sed 's/@.*//' || fail "$file exports no public name"
    done | sort >exported.txt
    diff declared.txt exported.txt || fail "declared (<) and exported (>) names differ"
    echo "$(wc -l <exported.txt) public names"
}

# No path of this machine in the installed files.
case_paths() {
    for file in "$prefix"/bin/rattleback "$library"/librattleback*.so "$library"/librattleback*.a; do
        ! strings -a "$file" | grep -F -e "$source" -e "$binary" || fail "$file names a folder of the source tree"
    done
    ! grep -rlF -e "$source" "$library/cmake" "$library/pkgconfig" || fail "a package file names a folder of the source tree"
}

# A program compiled with other headers than the library is refused with a message that names both.
case_headers() {
    cat >main.c <<'END'
#include <rattleback/rattleback.h>
#include <stdio.h>
int main(void)
{
    static rbError error;
    rbWorldDef worldDef = rbDefaultWorldDef();
    rbWorld* world = rbCreateWorld(&worldDef, &error);
    if (world != NULL) {
        rbBodyDef bodyDef = rbDefaultBodyDef();
        (void)rbCreateBody(world, &bodyDef, &error);
    }
    printf("%s\n", error.message);
    rbDestroyWorld(world);
    return error.status == RB_STATUS_OK ? 0 : 1;
}
END
    libraries=$(pkg-config --libs rattleback)
    export LD_LIBRARY_PATH=$library
    cp -r "$prefix/include" same
    # shellcheck disable=SC2086 # word splitting is intended
    "$CC" -std=c17 -Isame main.c -o same_program $libraries
    ./same_program || fail "the installed headers are refused"

    # Another ABI number, also with a definition that grew.
    cp -r same other
    sed -i 's/^#define RB_ABI_REVISION .*/#define RB_ABI_REVISION 63/' other/rattleback/base.h
    sed -i "/^typedef struct rbWorldDef {/,/cookie/ s/uint32_t cookie;.*/&\n    double added[100];/" other/rattleback/world.h
    # shellcheck disable=SC2086
    "$CC" -std=c17 -Iother main.c -o other_program $libraries
    ! message=$(./other_program) || fail "headers of another ABI are accepted"
    echo "$message"
    grep -q 'headers of Rattleback 0\.1 (ABI 63).*library is Rattleback 0\.1 (ABI [0-9]*).*[Cc]ompile' <<<"$message" ||
        fail "the message does not name both versions and the remedy"

    # The number was forgotten, but a definition has another size.
    cp -r same grown
    sed -i "/^typedef struct rbBodyDef {/,/cookie/ s/uint32_t cookie;.*/&\n    double added[100];/" grown/rattleback/body.h
    # shellcheck disable=SC2086
    "$CC" -std=c17 -Igrown main.c -o grown_program $libraries
    ! message=$(./grown_program) || fail "a definition of another size is accepted"
    echo "$message"
    grep -q "another size" <<<"$message" || fail "the message does not name the cause"
}

# Every example module, compiled with the flags of pkg-config, works with the installed program; stale ones are refused.
case_modules() {
    program=$prefix/bin/rattleback
    flags=$(pkg-config --variable=module_cflags rattleback)
    cp "$prefix"/share/doc/rattleback/examples/modules/*.c .
    rm main.c
    words=()
    for file in *.c; do
        # shellcheck disable=SC2086 # word splitting is intended
        "$CC" -std=c17 -O2 $warnings $flags "$file" -o "${file%.c}.so"
        ! readelf -d "${file%.c}.so" | contains librattleback || fail "$file links the library"
        [ "$(nm -D --defined-only "${file%.c}.so" | awk '{print $NF}')" = rbModule_Register ] || fail "$file exports more than one name"
        words+=(--module "${file%.c}.so")
    done
    cat >scene.json <<'END'
{"rattleback": 1, "engine": "step", "duration": 0.5, "contact": {"enabled": false},
 "output": {"probes": [{"body": "top", "quantity": "tilt"}]},
 "forces": [{"type": "gust", "velocity": [1, 0, 0], "drag": 0.5, "frequency": 3}],
 "bodies": [{"name": "top", "spin": [0, 0, 2], "shapes": [{"geometry": {"type": "bicone", "radius": 0.3, "height": 0.5}}]},
            {"name": "wheel", "position": [3, 0, 0], "shapes": [{"geometry": {"type": "box", "size": [1, 1, 1]}}]}],
 "joints": [{"type": "planar", "bodyB": "top", "anchor": [0, 0, 0], "axis": [0, 0, 1]},
            {"type": "hinge", "bodyB": "wheel", "anchor": [3, 0, 0], "axis": [0, 0, 1],
             "motor": {"type": "bang-bang", "gain": 100, "target": 1}}]}
END
    "$program" run scene.json "${words[@]}" --highest h.txt --record a.rbr >run.txt || fail "the installed program does not run with modules"
    grep -q ' m in 0.5 s' h.txt || fail "the output of a module is missing"
    "$program" replay a.rbr "${words[@]}" >/dev/null || fail "a recording with modules does not replay"
    "$program" --module period.so --help | contains 'rattleback period' || fail "the verb of a module is not listed"
    "$program" check scene.json "${words[@]}" --set contact.method=hertz --set contact.restitution=bronze >/dev/null || fail "the contact law of a module is unknown"
    ! "$program" replay a.rbr 2>missing.txt || fail "a recording replays without its modules"
    grep -q "force 'gust'" missing.txt || fail "replay does not name what is missing"

    # Other headers: another ABI number, and a struct of another size under the same number.
    cp -r "$prefix/include" other
    sed -i 's/^#define RB_ABI_REVISION .*/#define RB_ABI_REVISION 63/' other/rattleback/base.h
    cp -r "$prefix/include" grown
    sed -i 's/^} rbForceRow;/    double added[4];\n&/' grown/rattleback/body.h
    for headers in other grown; do
        # shellcheck disable=SC2086
        "$CC" -std=c17 -O2 -I$headers $flags gust.c -o $headers.so
        code=0
        "$program" run scene.json --module $headers.so 2>$headers.txt || code=$?
        [ "$code" = 2 ] || fail "a module of $headers headers ends with the code $code"
        cat $headers.txt
    done
    grep -q 'module other.so: .*(ABI 63).*compile it again' other.txt || fail "the message does not name the versions and the remedy"
    grep -q 'module grown.so: its rbForceRow has another size' grown.txt || fail "the message does not name the struct"
}

# install.sh removes everything it installed; DESTDIR is honored.
case_uninstall() {
    quietly env DESTDIR="$work/root" "$source/tools/install.sh" /opt/rattleback
    [ -x root/opt/rattleback/bin/rattleback ] || fail "DESTDIR is not honored"
    quietly env DESTDIR="$work/root" "$source/tools/install.sh" --remove /opt/rattleback
    left=$(find root -type f -o -type l)
    [ -z "$left" ] || fail "uninstall left $left"
}

# In another project's tree the libraries are targets, including io.
case_subproject() {
    cat >CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.21)
project(host LANGUAGES C)
add_subdirectory($source rattleback)
add_executable(host main.c)
target_link_libraries(host PRIVATE Rattleback::io Rattleback::lab)
END
    cp "$source/examples/reading-a-scene/main.c" .
    quietly cmake -S . -B built -G Ninja
    ninja -C built -n host | contains 'rattleback/librattleback_io.a' || fail "the host does not link the io library"
    ! ninja -C built -t targets all | contains '^rattleback/rattleback_program' || fail "the program is built in a subproject"
}

# The tree of the Debian packages can be configured; make deb builds them.
case_debian() {
    quietly cmake -S "$source" -B built -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr -DRB_DEBIAN=ON \
        -DRB_BUILD_TESTS=OFF
    for component in RUNTIME DEVELOPMENT; do
        contains "CPACK_DEBIAN_${component}_PACKAGE_NAME" <built/CPackConfig.cmake || fail "there is no package of component $component"
    done
}

# The installed program finds its scenes, and its manual pages and completions are installed.
case_program() {
    program=$prefix/bin/rattleback
    "$program" run tumbling-box --duration 1 >run.txt || fail "the installed program does not run a scene"
    (cd / && "$program" | contains 'rattleback run tumbling-box') || fail "the installed program lists no scenes"
    for page in "" $("$program" --help | sed -n 's/^  rattleback \([a-z][a-z]*\) .*/-\1/p'); do
        file=$prefix/share/man/man1/rattleback$page.1
        [ -s "$file" ] || fail "$file is missing"
        if command -v man >/dev/null; then
            text=$(MANWIDTH=100 man --warnings -l "$file" 2>man.txt | cat) || fail "man cannot read $file"
            [ ! -s man.txt ] || fail "man has warnings about $file: $(cat man.txt)"
            grep -q "EXIT STATUS" <<<"$text" || fail "$file shows no exit status"
        fi
    done
    bash -n "$prefix/share/bash-completion/completions/rattleback"
    completed=$(bash -c "source '$prefix/share/bash-completion/completions/rattleback'; compopt() { :; }
        PATH=$prefix/bin:\$PATH COMP_WORDS=(rattleback run tumbling-b) COMP_CWORD=2; _rattleback; echo \"\${COMPREPLY[@]}\"")
    [ "$completed" = tumbling-box ] || fail "bash completes tumbling-b to '$completed'"
    grep -q '^#compdef rattleback' "$prefix/share/zsh/site-functions/_rattleback" || fail "there is no completion for zsh"
    grep -q 'complete -c rattleback' "$prefix/share/fish/vendor_completions.d/rattleback.fish" || fail "there is no completion for fish"
}

"case_$1"
