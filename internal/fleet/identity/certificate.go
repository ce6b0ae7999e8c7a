package identity

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"path/filepath"
	"time"
)

const certificateFile = "certificate.pem"

// ErrOtherCertificate says that a server has shown a certificate that is not its own.
var ErrOtherCertificate = errors.New("the server has another certificate than the one in the join token: " +
	"this is not the home, or somebody sits in between")

// Certificate is the certificate of the engine of a home that keeps its files in a directory,
// with its key. It is made if it is not there.
func Certificate(dir string) (tls.Certificate, error) {
	path := filepath.Join(dir, certificateFile)
	text, err := once(path, newCertificate)
	if err != nil {
		return tls.Certificate{}, err
	}
	c, err := tls.X509KeyPair(text, text)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// newCertificate makes a key and its certificate. The certificate does not run out: whoever
// doubts the key removes the file, and all nodes join again.
func newCertificate() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	is := &x509.Certificate{
		SerialNumber: serial, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		NotBefore: time.Unix(0, 0), NotAfter: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), // RFC 5280: no date
	}
	raw, err := x509.CreateCertificate(rand.Reader, is, is, key.Public(), key)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	err = errors.Join(pem.Encode(&text, &pem.Block{Type: "PRIVATE KEY", Bytes: secret}), pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: raw}))
	return text.Bytes(), err
}

// Sum names a certificate, as the join token does.
func Sum(c tls.Certificate) string { return sum(c.Certificate[0]) }

func sum(raw []byte) string {
	s := sha256.Sum256(raw)
	return hex.EncodeToString(s[:])
}

// Serve is how an engine shows its certificate.
func Serve(c tls.Certificate) *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{c}, MinVersion: tls.VersionTLS13}
}

// Pin believes the one certificate with this sum, and no authority. TLS itself proves that the
// server has the certificate's key.
func Pin(want string) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		// Authorities and names say nothing here; VerifyConnection decides, on resumption too.
		InsecureSkipVerify: true,
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 || want == "" || sum(s.PeerCertificates[0].Raw) != want {
				return ErrOtherCertificate
			}
			return nil
		},
	}
}
