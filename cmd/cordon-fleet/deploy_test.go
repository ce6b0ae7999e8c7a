package main

import (
	"errors"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func readDeploy(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../deploy/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

type object = map[string]any

func readObject(t *testing.T, name string) object {
	t.Helper()
	o := object{}
	if err := yaml.Unmarshal([]byte(readDeploy(t, name)), &o); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return o
}

// at follows keys; "0" is the first of a list.
func at(t *testing.T, o any, keys ...string) any {
	t.Helper()
	for _, key := range keys {
		i, err := strconv.Atoi(key)
		if list, ok := o.([]any); ok && err == nil && i < len(list) {
			o = list[i]
		} else if fields, ok := o.(object); ok && fields[key] != nil {
			o = fields[key]
		} else {
			t.Fatalf("there is no %s in %v", key, o)
		}
	}
	return o
}

// TestDeployCommands: the command lines of deploy are ones that this program takes.
func TestDeployCommands(t *testing.T) {
	for name, pattern := range map[string]string{
		"cordon-home@.service": `(?m)^ExecStart=cordon-fleet (.*)$`,
		"cordon-node.service":  `(?m)^ExecStart=cordon-fleet (.*)$`,
		"node.yaml":            `exec cordon fleet (.*) < "`,
	} {
		found := regexp.MustCompile(pattern).FindAllStringSubmatch(readDeploy(t, name), -1)
		if len(found) != 1 {
			t.Fatalf("%s has the command lines %q", name, found)
		}
		if err := understood(found[0][1]); err != nil {
			t.Errorf("%s: %s: %v", name, found[0][1], err)
		}
	}
}

// understood reports whether this program takes a command line.
func understood(line string) error {
	c, args, err := root().Find(strings.Fields(line))
	if err == nil {
		err = c.ParseFlags(args)
	}
	if err == nil {
		err = c.ValidateArgs(c.Flags().Args())
	}
	if err == nil && !c.HasParent() {
		err = errors.New("it names no command")
	}
	return err
}

// TestGuideCommands: so are those of the guide.
func TestGuideCommands(t *testing.T) {
	text, err := os.ReadFile("../../docs/fleet.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`(?m)^cordon fleet ([^#\n]+)`).FindAllStringSubmatch(string(text), -1)
	for _, line := range lines {
		if err := understood(line[1]); err != nil {
			t.Errorf("%s: %v", line[0], err)
		}
	}
	if len(lines) < 8 {
		t.Errorf("the guide has %d commands", len(lines))
	}
	if understood("node --nowhere") == nil || understood("ls one two") == nil { // the controls
		t.Error("every line is understood")
	}
}

// TestDeployPods: nodes are the pod that is tested to hold cells, and KEDA scales them by metrics
// that there are.
func TestDeployPods(t *testing.T) {
	pod, nodes, scale := readObject(t, "pod.yaml"), readObject(t, "node.yaml"), readObject(t, "keda.yaml")
	for _, keys := range [][]string{{"hostUsers"}, {"securityContext"}, {"containers", "0", "image"}, {"containers", "0", "securityContext"}} {
		one, many := at(t, pod, append([]string{"spec"}, keys...)...), at(t, nodes, append([]string{"spec", "template", "spec"}, keys...)...)
		if !reflect.DeepEqual(one, many) {
			t.Errorf("%v is %v in pod.yaml and %v in node.yaml", keys, one, many)
		}
	}
	one := at(t, pod, "spec", "containers", "0", "volumeMounts", "0")
	if many := at(t, nodes, "spec", "template", "spec", "containers", "0", "volumeMounts", "0"); !reflect.DeepEqual(one, many) {
		t.Errorf("the state is at %v in pod.yaml and at %v in node.yaml", one, many)
	}
	container := []string{"spec", "template", "spec", "containers", "0"}
	data, mount := at(t, nodes, append(container, "env", "2")...), at(t, nodes, append(container, "volumeMounts", "2")...)
	if at(t, data, "name") != "XDG_DATA_HOME" || at(t, data, "value") != at(t, mount, "mountPath") ||
		at(t, mount, "name") != at(t, nodes, "spec", "volumeClaimTemplates", "1", "metadata", "name") {
		t.Errorf("the bases of a node are at %v, and its volume at %v", data, mount)
	}
	if at(t, nodes, "spec", "selector", "matchLabels", "app") != at(t, nodes, "spec", "template", "metadata", "labels", "app") {
		t.Error("node.yaml does not select its own pods")
	}
	if at(t, scale, "spec", "scaleTargetRef", "kind") != at(t, nodes, "kind") ||
		at(t, scale, "spec", "scaleTargetRef", "name") != at(t, nodes, "metadata", "name") {
		t.Error("keda.yaml does not scale the nodes of node.yaml")
	}
	query, known := at(t, scale, "spec", "triggers", "0", "metadata", "query").(string), documented(t, "cordon_home_")
	named := regexp.MustCompile(`cordon_[a-z_]+`).FindAllString(query, -1)
	for _, name := range named {
		if known[name] == "" {
			t.Errorf("there is no metric %s", name)
		}
	}
	if len(named) == 0 {
		t.Errorf("%q names no metric", query)
	}
}
