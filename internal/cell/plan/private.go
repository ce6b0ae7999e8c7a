package plan

import "strings"

// PrivateLayer says where a kept layer was seen by the command and what cordon
// itself put into it, so that whoever looks into it afterwards knows the rest for
// the command's. Scratch is not listed: nobody asks what became of it.
type PrivateLayer struct {
	Name    string   `json:"name"` // below Spec.Keep
	At      string   `json:"at"`
	Host    string   `json:"host,omitempty"` // the host's directory below it, where that lies elsewhere
	For     Purpose  `json:"for"`
	Overlay bool     `json:"overlay,omitempty"` // in the kernel's format, above the host's own directory
	Hidden  []string `json:"hidden,omitempty"`  // names of which nothing of the host's was seen
	Made    []string `json:"made,omitempty"`    // directories that were made in it
}

// Purpose is why a layer is there.
type Purpose string

// The purposes that are listed.
const (
	HomeLayer    Purpose = "home"    // the home directory, or a part of it
	OutsideLayer Purpose = "outside" // writes where nothing may be written, captured
)

// The beginnings of layers' names.
const (
	HomeName    = "home"
	emptyHome   = HomeName + "-empty"
	outsideName = "at"
)

// Private lists the layers that are kept and worth a look.
func (s Spec) Private() []PrivateLayer {
	if s.Keep == "" {
		return nil
	}
	var list []PrivateLayer
	for _, op := range s.View {
		purpose := PurposeOf(op.Layer)
		if purpose == "" {
			continue
		}
		host := ""
		if len(op.Below) > 0 && op.Below[0] != op.At {
			host = op.Below[0]
		}
		list = append(list, PrivateLayer{
			Name: op.Layer, At: op.At, Host: host, For: purpose, Overlay: op.Do != Private,
			Hidden: op.Absent, Made: op.Make,
		})
	}
	return list
}

// PurposeOf tells from a layer's name what it is for; "" is scratch, or no layer.
func PurposeOf(name string) Purpose {
	first, _, _ := strings.Cut(name, "-")
	switch first {
	case HomeName:
		return HomeLayer
	case outsideName:
		return OutsideLayer
	}
	return ""
}

// outsideLayer names the layer for a directory outside. Two directories never get
// the same one: what is a hyphen in a path is not one in the name.
func outsideLayer(at string) string {
	const hyphen, slash = "%2D", "-"
	return outsideName + strings.NewReplacer("%", "%25", "-", hyphen, "/", slash).Replace(strings.TrimSuffix(at, "/"))
}
