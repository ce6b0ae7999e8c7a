package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestContainers: cordon in containers as people have them. The first rows are
// refused, and the doctor names the lines that are missing; with these lines all
// layers are there and work lands. The letters are those of docs/containers.md.
func TestContainers(t *testing.T) {
	needsRuntime(t)
	ours := readProfile(t, "../../deploy/cordon-seccomp.json")
	const (
		filterLine = `--security-opt seccomp=cordon-seccomp\.json`
		maskLine   = `--security-opt systempaths=unconfined`
		podMask    = `hostUsers: false and securityContext\.procMount: Unmasked`
		podLine    = `in the pod: securityContext\.seccompProfile: \{type: Localhost, localhostProfile: cordon-seccomp\.json\}, ` + podMask
		podman     = "/usr/share/containers/seccomp.json"
	)
	kubernetes := []string{"KUBERNETES_SERVICE_HOST=10.0.0.1"}
	for _, row := range []struct {
		name string
		container
		refused []string // patterns in what the doctor says; nil: everything works
	}{
		{"A pod as it comes", container{root: true, masked: true, profile: ours.dockerDefault(), env: kubernetes},
			[]string{`(?m)^fail +seccomp +the profile around cordon refuses clone`, `(?m)^fail +/proc +masked at /proc/`, `(?m)^Next: ` + podLine}},
		{"B Docker, restricted", container{masked: true, profile: ours.dockerDefault(), files: []string{".dockerenv"}},
			[]string{`(?m)^Next: docker run ` + filterLine + ` ` + maskLine}},
		{"C masked proc alone", container{masked: true, files: []string{"run/.containerenv"}},
			[]string{`(?m)^fail +/proc +masked at .*; podman run --security-opt unmask=ALL$`, `(?m)^Next: podman run --security-opt unmask=ALL \(`}},
		{"D unconfined", container{}, nil},
		{"F without keyctl", container{users: true, profile: ours.without("keyctl"), env: kubernetes}, nil},
		{"F3 the pod of deploy", pod(t), nil},
		{"F5 the pod with a masked proc", container{users: true, profile: ours, masked: true, env: kubernetes},
			[]string{`(?m)^Next: in the pod: ` + podMask + ` \(`}},
		{"O1 on an overlay, with a volume", container{users: true, profile: ours, overlay: true, env: kubernetes}, nil},
		{"O2 on an overlay, without", container{users: true, profile: ours, overlay: true, inRoot: true, files: []string{".dockerenv"}},
			[]string{`(?m)^fail +file system +overlayfs at .*; docker run -v cordon-state:` + containerState + `$`}},
		{"P podman's own profile", container{profile: readProfile(t, podman)}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := row.runIn(t, containerScript)
			if row.refused == nil {
				if r.rc("exec") != "0" || r.rc("run") != "0" || r.rc("doctor") != "0" || !strings.Contains(r.parts["run"], "merged into main") ||
					!regexp.MustCompile(`(?m)^ok +cell +namespaces, overlay, landlock \d+, seccomp;`).MatchString(r.parts["doctor"]) {
					t.Errorf("not all layers:\n%s", r.text)
				}
				return
			}
			if r.rc("run") != "3" || r.rc("doctor") != "1" || strings.Contains(r.text, "merged into main") {
				t.Errorf("not refused:\n%s", r.text)
			}
			for _, pattern := range row.refused {
				if !regexp.MustCompile(pattern).MatchString(r.parts["doctor"]) {
					t.Errorf("the doctor does not say %s:\n%s", pattern, r.parts["doctor"])
				}
			}
		})
	}
}

// TestContainerCalls: the profile adds nothing that is not needed. Without any one
// of the calls there is no cell, and the doctor names it.
func TestContainerCalls(t *testing.T) {
	needsRuntime(t)
	ours := readProfile(t, "../../deploy/cordon-seccomp.json")
	for _, call := range ours.Syscalls[len(ours.Syscalls)-1].Names {
		if call == "keyctl" || call == "clone3" {
			continue // row F; and what a runtime for Go uses where control groups are delegated
		}
		t.Run(call, func(t *testing.T) {
			r := container{users: true, profile: ours.without(call)}.runIn(t, "echo '== doctor'; cd /home/u; cordon doctor; echo rc=$?")
			if r.rc("doctor") != "1" || !regexp.MustCompile(`(?m)^fail +seccomp +the profile around cordon refuses `+call).MatchString(r.text) {
				t.Error(r.text)
			}
		})
	}
}

// pod is the container that deploy/pod.yaml asks for.
func pod(t *testing.T) container {
	t.Helper()
	text, err := os.ReadFile("../../deploy/pod.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var p struct {
		Spec struct {
			HostUsers       bool `yaml:"hostUsers"`
			SecurityContext struct {
				RunAsUser int `yaml:"runAsUser"`
			} `yaml:"securityContext"`
			Containers []struct {
				SecurityContext struct {
					AllowPrivilegeEscalation bool   `yaml:"allowPrivilegeEscalation"`
					ProcMount                string `yaml:"procMount"`
					Capabilities             struct{ Drop []string }
					SeccompProfile           struct {
						LocalhostProfile string `yaml:"localhostProfile"`
					} `yaml:"seccompProfile"`
				} `yaml:"securityContext"`
				VolumeMounts []struct {
					MountPath string `yaml:"mountPath"`
				} `yaml:"volumeMounts"`
			}
		}
	}
	if err := yaml.Unmarshal(text, &p); err != nil || len(p.Spec.Containers) != 1 || len(p.Spec.Containers[0].VolumeMounts) != 1 {
		t.Fatalf("%v: %+v", err, p)
	}
	c := p.Spec.Containers[0]
	if s := c.SecurityContext; p.Spec.SecurityContext.RunAsUser != 1000 || s.AllowPrivilegeEscalation || fmt.Sprint(s.Capabilities.Drop) != "[ALL]" {
		t.Fatalf("the pod has more rights than the row: %+v", p)
	}
	return container{
		users: !p.Spec.HostUsers, masked: c.SecurityContext.ProcMount != "Unmasked", inRoot: c.VolumeMounts[0].MountPath != containerState,
		profile: readProfile(t, filepath.Join("../../deploy", c.SecurityContext.SeccompProfile.LocalhostProfile)),
		env:     []string{"KUBERNETES_SERVICE_HOST=10.0.0.1"},
	}
}

// TestPodman: the command line of deploy with the real podman, and as a control
// podman without it.
func TestPodman(t *testing.T) {
	needsRuntime(t)
	if _, err := exec.LookPath("podman"); err != nil {
		t.Fatal("there is no podman: apt-get install podman (.ci/run does)")
	}
	dir, err := os.MkdirTemp("/var/tmp", "cordon-podman-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	container{}.build(t, dir)
	podman := podmanIn(dir)
	// What this machine and an image that is a directory need, whatever the container is.
	here := []string{"--ulimit", "nofile=1024:1024", "--ulimit", "nproc=4096:4096", "--network", "none", "-v", "/usr:/usr:ro",
		"-v", filepath.Dir(containerProgram) + ":/opt/cordon:ro", "-e", "PATH=/opt/cordon:/usr/bin:/bin", "-e", "HOME=/home/u",
		"--rootfs", filepath.Join(dir, "rootfs"), "sh", "-c", "exec 2>&1; rm -rf /home/u/repo\n" + containerScript}
	run := func(argv ...string) containerRun {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), argv[0], append(argv[1:], here...)...)
		cmd.Env = append(os.Environ(), "PODMAN="+podman)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return parseRun(string(out))
	}
	if r := run("../../deploy/podman-run"); r.rc("exec") != "0" || r.rc("run") != "0" || r.rc("doctor") != "0" || !strings.Contains(r.text, "merged into main") {
		t.Errorf("podman-run:\n%s", r.text)
	}
	plain := append(strings.Fields(podman), "run", "--rm", "--user", "1000:1000", "-v", filepath.Join(dir, "state")+":"+containerState)
	if r := run(plain...); r.rc("run") != "3" || r.rc("doctor") != "1" || !strings.Contains(r.parts["doctor"], "podman run --security-opt unmask=ALL") {
		t.Errorf("plain podman:\n%s", r.text)
	}
}

// TestContainerProbe: in the pod of deploy the cell holds as it does on a machine.
func TestContainerProbe(t *testing.T) {
	needsRuntime(t)
	r := pod(t).runIn(t, "echo '== probe'; cd /home/u; cordon doctor --probe --only '^(descriptors|namespaces|secrets-way|secrets-tree)-'; echo rc=$?")
	counts := regexp.MustCompile(`(?m)^\d+ attempts: (\d+) held, 0 escaped, \d+ not tested\nContained: `).FindStringSubmatch(r.text)
	if counts == nil || len(counts[1]) < 2 || r.rc("probe") != "0" { // tens of them
		t.Error(r.text)
	}
	t.Log(r.text)
}
