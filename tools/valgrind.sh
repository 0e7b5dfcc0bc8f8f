#!/usr/bin/env bash
# Runs the unit tests of a build under Valgrind's memcheck: tools/valgrind.sh BUILD_DIR [NAME_PATTERN].
# One program at a time, each with all of its tests but the death tests, whose children end on purpose.
# A read of what nobody wrote, a wrong free or a definite leak makes it red. Takes an hour or so.
set -euo pipefail

if [[ $# -lt 1 || $1 == -* ]]; then
  sed -n '2,4s/^# //p' "$0"
  [[ ${1-} == --help ]] && exit 0
  exit 2
fi
build=$(cd "$1" && pwd)
pattern=${2-}
command -v valgrind >/dev/null || { echo "valgrind is missing: apt-get install valgrind" >&2; exit 1; }

mapfile -t programs < <(ctest --test-dir "$build" --show-only=json-v1 -LE slow |
  python3 -c '
import json, sys
tests = json.load(sys.stdin)["tests"]
programs = {test["command"][0] for test in tests if test.get("command")}
print("\n".join(sorted(p for p in programs if "/cpp/harena/" in p and p.endswith("_test"))))' |
  grep -e "$pattern" || true)
if [[ ${#programs[@]} -eq 0 ]]; then
  echo "no test program in $build matches '$pattern': build it first (make build)" >&2
  exit 1
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0
failed=0
for program in "${programs[@]}"; do
  start=$SECONDS
  # The program's own failures and memcheck's errors alike. A program's own operator new stays.
  if valgrind -q --soname-synonyms=somalloc=nouserintercepts --error-exitcode=99 --leak-check=full --show-leak-kinds=definite \
    --errors-for-leak-kinds=definite "$program" --gtest_filter='-*Death*' >"$log" 2>&1; then
    passed=$((passed + 1))
    printf 'ok     %s (%d s)\n' "${program##*/}" $((SECONDS - start))
  else
    failed=$((failed + 1))
    grep -v '^\[ *\(RUN\|OK\|-*\) *\]' "$log" | tail -60
    printf 'FAILED %s (%d s)\n' "${program##*/}" $((SECONDS - start))
  fi
done
echo "valgrind: $passed passed, $failed failed"
[[ $failed -eq 0 ]]
