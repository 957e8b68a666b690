#!/bin/sh
# twice.sh PROGRAM FILE: runs a test that depends on the clock of a loaded machine; what fails once is
# tried again, and both tries stand in the log.
"$1" "$2" && exit 0
echo "failed once (code $?), tried again"
exec "$1" "$2"
