package testnet

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
)

// Tiny is the one package that each registry has; it says this.
const Tiny = "tiny says hello"

// The places of the packages.
const (
	TinyModule  = "tiny.example.com/tiny"
	TinyTarball = "https://registry.npmjs.org/tiny/-/tiny-1.0.0.tgz"
)

// Registries serves the packages of npm, Go and Python where programs look for them
// unless told otherwise.
func (n *Net) Registries() error {
	wheel, err := pythonWheel()
	if err != nil {
		return err
	}
	module, err := goModule()
	if err != nil {
		return err
	}
	tarball, _, err := NodePackage()
	if err != nil {
		return err
	}
	n.site("registry.npmjs.org", "93.184.216.40", npmRegistry(tarball))
	n.site("proxy.golang.org", "93.184.216.41", goProxy(module))
	n.site("pypi.org", "93.184.216.42", files(map[string][]byte{"/simple/tiny/": []byte(pythonIndex(wheel))}))
	n.site("files.pythonhosted.org", "93.184.216.43", files(map[string][]byte{"/" + wheelName: wheel}))
	return nil
}

// site gives a name an address and a server.
func (n *Net) site(name, addr string, h http.Handler) {
	n.Names.Set(name, addr)
	n.Web.handle(name, h)
}

// files serves contents by path.
func files(contents map[string][]byte) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		body, ok := contents[r.URL.Path]
		if !ok {
			http.NotFound(out, r)
			return
		}
		if bytes.HasPrefix(body, []byte("<!DOCTYPE")) {
			out.Header().Set("Content-Type", "text/html")
		}
		_, _ = out.Write(body)
	})
}

// NodePackage is the tarball of the package of npm, and its integrity.
func NodePackage() (tarball []byte, integrity string, err error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, f := range []struct{ name, text string }{
		{"package/package.json", `{"name":"tiny","version":"1.0.0","main":"index.js"}`},
		{"package/index.js", fmt.Sprintf("module.exports = %q;\n", Tiny)},
	} {
		if err := w.WriteHeader(&tar.Header{Name: f.name, Mode: 0o644, Size: int64(len(f.text))}); err != nil {
			return nil, "", err
		}
		if _, err := w.Write([]byte(f.text)); err != nil {
			return nil, "", err
		}
	}
	if err := w.Close(); err != nil {
		return nil, "", err
	}
	if err := z.Close(); err != nil {
		return nil, "", err
	}
	sum := sha512.Sum512(b.Bytes())
	return b.Bytes(), "sha512-" + base64.StdEncoding.EncodeToString(sum[:]), nil
}

func npmRegistry(tarball []byte) http.Handler {
	sum := sha512.Sum512(tarball)
	about, err := json.Marshal(map[string]any{
		"name": "tiny", "dist-tags": map[string]string{"latest": "1.0.0"},
		"versions": map[string]any{"1.0.0": map[string]any{
			"name": "tiny", "version": "1.0.0", "main": "index.js",
			"dist": map[string]string{"tarball": TinyTarball, "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])},
		}},
	})
	if err != nil {
		panic(err) // it is strings only
	}
	return files(map[string][]byte{"/tiny": about, "/tiny/-/tiny-1.0.0.tgz": tarball})
}

// zipped is an archive of files, in order of name and content.
func zipped(pairs ...string) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(pairs); i += 2 {
		f, err := w.Create(pairs[i])
		if err != nil {
			return nil, err
		}
		if _, err := f.Write([]byte(pairs[i+1])); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

const goMod = "module " + TinyModule + "\n\ngo 1.20\n"

func goModule() ([]byte, error) {
	top := TinyModule + "@v1.0.0/"
	return zipped(top+"go.mod", goMod, top+"tiny.go", fmt.Sprintf("// Package tiny says hello.\npackage tiny\n\n// Text is what it "+
		"says.\nconst Text = %q\n", Tiny))
}

func goProxy(module []byte) http.Handler {
	at := "/" + TinyModule + "/@v/"
	return files(map[string][]byte{
		at + "list":        []byte("v1.0.0\n"),
		at + "v1.0.0.info": []byte(`{"Version":"v1.0.0","Time":"2024-01-01T00:00:00Z"}`),
		at + "v1.0.0.mod":  []byte(goMod),
		at + "v1.0.0.zip":  module,
	})
}

const wheelName = "tiny-1.0-py3-none-any.whl"

func pythonWheel() ([]byte, error) {
	return zipped(
		"tiny.py", fmt.Sprintf("TEXT = %q\n", Tiny),
		"tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
		"tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: testnet\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		"tiny-1.0.dist-info/RECORD", "tiny.py,,\ntiny-1.0.dist-info/METADATA,,\ntiny-1.0.dist-info/WHEEL,,\ntiny-1.0.dist-info/RECORD,,\n",
	)
}

func pythonIndex(wheel []byte) string {
	sum := sha256.Sum256(wheel)
	return fmt.Sprintf("<!DOCTYPE html><html><body><a href=\"https://files.pythonhosted.org/%s#sha256=%s\">%[1]s</a></body></html>", wheelName,
		hex.EncodeToString(sum[:]))
}
