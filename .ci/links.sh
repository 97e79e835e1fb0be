#!/usr/bin/env bash
# Checks that links between the documents lead to existing files and headings.
set -euo pipefail
cd "$(dirname "$0")/.."

anchors() { # FILE: the link names of its headings
	sed -n '/^```/,/^```/d; s/^##* //p' "$1" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9_\n-'
}

bad=0
while IFS=: read -r file target; do
	path=${target%%#*} anchor=
	[[ $target != *"#"* ]] || anchor=${target#*#}
	to=$file
	[ -z "$path" ] || to=$(dirname "$file")/$path
	if [ ! -e "$to" ] || { [ -n "$anchor" ] && ! anchors "$to" | grep -qxF -- "$anchor"; }; then
		echo "$file: no such place: $target" >&2
		bad=1
	fi
done < <(git ls-files -zco --exclude-standard '*.md' | xargs -0 grep -oHE '\]\([^) ]+\)' | sed 's/:](\(.*\))$/:\1/' | grep -vE ':[a-z]+://')
exit $bad
