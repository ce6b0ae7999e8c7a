package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// unitScript runs in a container whose first process is systemd, as a unit of its own. It follows the
// comments of the two units: a home as a unit of user u, and a node as a unit of the machine.
const unitScript = `exec >/work/log 2>&1
cd /home/u
as_u() { setpriv --reuid 1000 --regid 1000 --clear-groups env HOME=/home/u XDG_RUNTIME_DIR=/run/u PATH="$PATH" "$@"; }
try() { for i in $(seq 1800); do "$@" >/tmp/said 2>&1 && return; sleep 0.1; done
  echo "FAILED: $*"; cat /tmp/said; systemctl --no-pager status cordon-node.service; as_u systemctl --user --no-pager status 'cordon-home@*'; exit 1; }
as_u git init -q /home/u/my-repo
as_u mkdir -p .config/systemd/user .config/cordon
as_u cp /work/deploy/cordon-home@.service .config/systemd/user/
name=$(systemd-escape --path /home/u/my-repo)
as_u sh -c "printf 'LISTEN=127.0.0.1:4222\nADDRESS=localhost:4222\nMETRICS=127.0.0.1:9464\n' > .config/cordon/fleet.env"
systemctl start user.service
try as_u systemctl --user is-active basic.target
as_u systemctl --user start cordon-home@"$name".service || echo "FAILED: the home"
cd /home/u/my-repo
try as_u cordon fleet join
mkdir -p /etc/cordon
as_u cordon fleet join | cut -d' ' -f4 > /etc/cordon/join
touch /etc/cordon/node.env
cp /work/deploy/cordon-node.service /etc/systemd/system/
systemctl daemon-reload
systemctl start cordon-node.service || echo "FAILED: the node"
heard() { as_u cordon fleet ls | grep -Eq "^node-1 +ready +[0-9]+s ago"; }
try heard
as_u cordon fleet ls
main() { systemctl show --value -p MainPID cordon-node.service; }
first=$(main); kill -9 "$first"
again() { [ "$(main)" != 0 ] && [ "$(main)" != "$first" ]; }
try again
echo "RESTARTED"
as_u cordon fleet rm node-1
ended() { [ "$(systemctl show --value -p ActiveState cordon-node.service)" = failed ]; }
try ended
systemctl show -p ExecMainStatus -p NRestarts cordon-node.service
as_u systemctl --user show -p ActiveState -p NRestarts cordon-home@"$name".service
echo "DONE"
`

// TestUnits: systemd accepts the units of deploy and runs them: a node that is killed comes back, and one
// that the home has removed does not.
func TestUnits(t *testing.T) {
	needsRuntime(t)
	dir, err := os.MkdirTemp("/var/tmp", "cordon-units-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	container{}.build(t, dir)
	root, work := filepath.Join(dir, "rootfs"), filepath.Join(dir, "work-files")
	for path, text := range map[string]string{
		filepath.Join(root, "etc/passwd"):     "root:x:0:0::/root:/bin/sh\nu:x:1000:1000::/home/u:/bin/sh\ncordon:x:999:999::/var/lib/cordon:/bin/sh\n",
		filepath.Join(root, "etc/group"):      "root:x:0:\nu:x:1000:\ncordon:x:999:\n",
		filepath.Join(root, "etc/machine-id"): "",
		filepath.Join(work, "script"):         unitScript,
		filepath.Join(work, "log"):            "",
		filepath.Join(root, "etc/systemd/system/user.service"): "[Unit]\nDefaultDependencies=no\n[Service]\nUser=u\nDelegate=yes\nRuntimeDirectory=u\n" +
			"Environment=XDG_RUNTIME_DIR=/run/u\nExecStart=/lib/systemd/systemd --user\n",
		filepath.Join(root, "etc/systemd/system/test.service"): "[Unit]\nDefaultDependencies=no\nSuccessAction=exit-force\nFailureAction=exit-force\n" +
			"[Service]\nType=oneshot\nTimeoutStartSec=900\nExecStart=/bin/bash /work/script\nEnvironment=PATH=/usr/local/bin:/usr/bin:/bin\n",
		filepath.Join(root, "etc/systemd/system/test.target"): "[Unit]\nWants=test.service\n",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for _, own := range []string{"var/lib/cordon", "work"} {
		if err := os.MkdirAll(filepath.Join(root, own), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(filepath.Join(root, "var/lib/cordon"), 999, 999); err != nil {
		t.Fatal(err)
	}
	deploy, err := filepath.Abs("../../deploy")
	if err != nil {
		t.Fatal(err)
	}
	argv := append(strings.Fields(podmanIn(dir)), "run", "--rm", "--systemd=always", "--hostname", "node-1", "--ulimit", "nofile=4096:4096",
		"--ulimit", "nproc=4096:4096", "--network", "none", "-v", "/usr:/usr:ro", "-v", filepath.Dir(containerProgram)+":/usr/local/bin:ro",
		"-v", work+":/work", "-v", deploy+":/work/deploy:ro", "--rootfs", root, "/lib/systemd/systemd", "--unit=test.target")
	began := time.Now()
	out, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).CombinedOutput()
	said, readErr := os.ReadFile(filepath.Join(work, "log"))
	t.Logf("%v, %v after %s", err, readErr, time.Since(began).Round(time.Second))
	text := string(said)
	for _, want := range []string{`(?m)^node-1 +ready +\d+s ago`, `(?m)^RESTARTED$`, `(?m)^ExecMainStatus=3\nNRestarts=1$|^NRestarts=1\nExecMainStatus=3$`,
		`(?m)^ActiveState=active\nNRestarts=0$|^NRestarts=0\nActiveState=active$`, `(?m)^DONE$`} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("not there: %s", want)
		}
	}
	if t.Failed() || regexp.MustCompile(`(?m)^FAILED`).MatchString(text) {
		t.Errorf("%s\n%s", out, text)
	}
}

// TestVerifyUnits: systemd has nothing to say against the units. The control has a setting that there is not.
func TestVerifyUnits(t *testing.T) {
	for from, name := range map[string]string{"cordon-home@.service": "cordon-home@srv-repo.service", "cordon-node.service": "cordon-node.service"} {
		text, err := os.ReadFile(filepath.Join("../../deploy", from))
		if err != nil {
			t.Fatal(err)
		}
		unit := strings.Replace(string(text), "ExecStart=cordon-fleet", "ExecStart=/bin/true", 1) // it is not installed here
		for _, one := range []struct {
			text string
			fine bool
		}{{unit, true}, {strings.Replace(unit, "NoNewPrivileges=yes", "NoNewPrivilege=yes", 1), false}} {
			at := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(at, []byte(one.text), 0o644); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command("systemd-analyze", "verify", "--man=no", at).CombinedOutput()
			if fine := err == nil && len(out) == 0; fine != one.fine {
				t.Errorf("%s: %v\n%s", name, err, out)
			}
		}
	}
}

// podmanIn is podman with everything that it keeps below a directory.
func podmanIn(dir string) string {
	return fmt.Sprintf("podman --root %[1]s/storage --runroot %[1]s/run --runtime runc --cgroup-manager cgroupfs --events-backend file", dir)
}

// TestPodNode: the pod of deploy/node.yaml joins a home and is heard, with the rights that the pod has.
func TestPodNode(t *testing.T) {
	needsRuntime(t)
	text, err := os.ReadFile("../../deploy/node.yaml")
	if err != nil {
		t.Fatal(err)
	}
	command := regexp.MustCompile(`command: \[sh, -c, '([^']+)'\]`).FindSubmatch(text)
	if command == nil {
		t.Fatal("the pod has no command")
	}
	r := pod(t).runIn(t, `export POD_NAME=cordon-node-0 POD_IP=127.0.0.1 XDG_DATA_HOME=/home/u/data
mkdir -p /home/u/join /home/u/data && cd /home/u && git init -q repo && cd repo || exit 99
cordon fleet home --listen 127.0.0.1:4222 >/tmp/home.log 2>&1 &
for i in $(seq 1800); do cordon fleet join >/tmp/line 2>/dev/null && break; sleep 0.1; done
cut -d' ' -f4 /tmp/line >/home/u/join/cordon-node-0
( `+string(command[1])+` ) >/tmp/node.log 2>&1 &
for i in $(seq 1800); do cordon fleet ls 2>&1 | grep -Eq 'ready +[0-9]+s ago' && break; sleep 0.1; done
echo "== ls"; cordon fleet ls; echo "rc=$?"; cat /tmp/home.log /tmp/node.log
`)
	if !regexp.MustCompile(`(?m)^cordon-node-0 +ready +\d+s ago`).MatchString(r.text) || !strings.Contains(r.text, "metrics at http://127.0.0.1:9465/metrics") {
		t.Error(r.text)
	}
}
