#!/bin/sh
# make.sh OLD-CORDON OLD-TEST-BINARY OUT.tar.gz makes a state directory with workers in
# every status, by the program whose state later versions have to open. It needs root,
# because leases hold absolute paths: everything is made below /mnt, on which a directory
# of its own is mounted in a mount namespace. The test that unpacks the archive does the
# same, without root.
#
# OLD-TEST-BINARY is "go test -c ./cmd/cordon" of the same commit: the same program, which
# kills itself after the Nth event of the journal where CORDON_TEST_KILL says so.
set -eu
if [ "${INNER:-}" = "" ]; then
	top=$(mktemp -d)
	chmod 755 "$top"
	cp "$(dirname "$0")/cordon.yaml" "$top/policy.yaml"
	cp "$1" "$top/cordon.real"
	mkdir "$top/killed"
	cp "$2" "$top/killed/cordon"
	INNER=1 unshare -m --propagation private sh "$0" "$top" "$3"
	rm -r "$top"
	exit
fi
out=$(realpath "$2")
mount --bind "$1" /mnt
cd /mnt
real=/mnt/cordon.real
cordon() { "$real" -C /mnt/repo "$@"; }
killed() { when=$1; shift; env CORDON_TEST_KILL="$when" TESTSCRIPT_COMMAND= /mnt/killed/cordon -C /mnt/repo "$@" || :; }
fails() { "$@" && exit 1 || :; }
name() { cordon ls --all --json | sed -n 's/^ *"worker": "\(.*\)",*$/\1/p' | tail -n 1; }
is() { # is WORD: the last worker is the one that the test calls so, and is in this status now
	echo "$(name) $1" >>/mnt/names
}

mkdir home repo
cat >home/.gitconfig <<'X'
[user]
	name = Operator
	email = operator@example.com
[init]
	defaultBranch = main
X
export HOME=/mnt/home XDG_STATE_HOME=/mnt/state GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/mnt/home/.gitconfig
unset CORDON_TREE || :
mkdir -p repo/src repo/docs repo/gen
mv policy.yaml repo/cordon.yaml
for f in a b c conflict waits; do echo $f >repo/src/$f.txt; done
echo d >repo/docs/d.txt
echo g >repo/gen/g.txt
printf 'ignored/\n' >repo/.gitignore
git -C repo init -q
git -C repo add .
git -C repo commit -q -m base

cordon run -- sh -c 'echo one >src/one.txt'
is merged
cordon run -- sh -c 'echo gone >src/gone.txt'
cordon gc --yes
is collected
fails cordon run -- sh -c 'echo out >Makefile; echo q >src/q.txt; rm src/c.txt'
is quarantined
fails cordon run -- sh -c 'echo out >release.txt; echo r >src/r.txt'
is released
cordon quarantine release "$(name)" --write release.txt --reason 'reviewed'
fails cordon run -- sh -c 'echo out >torelease.txt; echo t >src/t.txt'
is releasable
fails cordon run -- sh -c 'echo broken >src/broken.txt'
is rejected
cordon run --no-merge -- sh -c 'rm -r src/b.txt docs; mkdir docs; echo fin >docs/fin.txt; ln -s a.txt src/link; mkdir src/ignored; echo i >src/ignored/i; git add -A; git commit -q -m "by the worker"; echo later >src/later.txt'
is finished
cordon run --no-merge --keep-history -- sh -c 'echo h >src/h.txt; git add -A; git commit -q -m "first of mine"; echo h2 >src/h2.txt; git add -A; git commit -q -m "second of mine"'
is history
cordon run --no-merge --tree=copy -- sh -c 'echo plain >src/plain.txt; rm src/c.txt'
is plain
fails cordon run -- sh -c 'echo f >src/f.txt; exit 3'
is failed
cordon run -- true
is nochange
cordon run --no-merge -- sh -c 'echo theirs >src/conflict.txt'
is conflict
conflict=$(name)
cordon run -- sh -c 'echo first >src/conflict.txt'
is merged2
fails cordon merge "$conflict"
echo edited >>repo/src/waits.txt
fails cordon run -- sh -c 'echo w >src/waits.txt'
is waiting
git -C repo checkout -q src/waits.txt
fails cordon run --no-merge -- sh -c 'cordon ask --option red --option blue --wait 0s "which colour?" >src/colour.txt; echo asked >src/asked.txt'
is asks
fails cordon run --no-merge -- sh -c 'cordon ask --wait 0s "which name?" >src/name.txt; echo code $?'
is answered
cordon answer "$(name)" otter
cordon run --no-merge -- sh -c 'echo d >src/discarded.txt'
is discarded
cordon discard --yes "$(name)"
cordon run --no-merge -- sh -c 'echo branch >src/branch.txt'
is branched
cordon checkout --branch saved "$(name)"
git -C repo worktree add -q -b side /mnt/side
cordon run --no-merge --adopt /mnt/side -- sh -c 'echo adopted >src/adopted.txt'
is adopted
sed 's/^isolation:.*/isolation: degraded/; s/outside: capture/outside: deny/' repo/cordon.yaml >/mnt/degraded.yaml
cordon run --no-merge --policy /mnt/degraded.yaml -- sh -c 'echo degraded >src/degraded.txt'
is degraded
killed after:1 run -- sh -c 'echo leased >src/leased.txt'
is leased
killed after:2 run -- sh -c 'echo ready >src/ready.txt'
is ready
killed after:6 run -- sh -c 'echo intended >src/intended.txt'
is intended
for kind in auto copy; do
	"$real" -C /mnt/repo run --tree=$kind -- sh -c "test -e src/lost-$kind.txt && exit 0; echo lost >src/lost-$kind.txt; touch /tmp/started; sleep 600" >/mnt/lost.log 2>&1 &
	supervisor=$!
	for i in $(seq 200); do
		cordon ls --json | grep -q '"status": "running"' && find /mnt/state -name "lost-$kind.txt" | grep -q . && break
		sleep 0.1
	done
	kill -9 $supervisor
	wait $supervisor || :
	is lost-$kind
done
killed after:2 run --tree=copy -- sh -c 'echo copied >src/copied.txt'
is ready-copy

# What the program that made this says of it.
mkdir said
cordon ls --all --json >said/ls.json
cordon inbox --json >said/inbox.json
cordon quarantine ls --json >said/quarantine.json
cordon log --json >said/log.json
cordon log verify --json >said/verify.json
while read -r id word; do cordon show --json "$id" >"said/show-$word.json"; done <names
cp repo/cordon.yaml policy.yaml
rm -rf cordon.real killed lost.log state/cordon/*/posts/*/bin
find state -type s -delete
tar --xattrs --xattrs-include='user.*' --sort=name --exclude='*/work/work' --owner=0 --group=0 -czf "$out" -C /mnt .
