package testnet

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"sync"
	"time"
)

// authority signs a certificate for every name that it is asked for.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey

	mu   sync.Mutex
	made map[string]*tls.Certificate
}

// writeAuthority makes one and writes it to two files. It returns its certificate.
func writeAuthority(file string) ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	t := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "testnet authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(48 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, t, t, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(file+".key", secret, 0o600); err != nil {
		return nil, err
	}
	if err := os.WriteFile(file+".der", der, 0o644); err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}

func readAuthority(file string) (*authority, error) {
	der, err := os.ReadFile(file + ".der")
	if err != nil {
		return nil, err
	}
	secret, err := os.ReadFile(file + ".key")
	if err != nil {
		return nil, err
	}
	a := &authority{made: map[string]*tls.Certificate{}}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		return nil, err
	}
	a.key, err = x509.ParseECPrivateKey(secret)
	return a, err
}

// get is the certificate for a hello; one without a name gets a name too.
func (a *authority) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	name := hello.ServerName
	if name == "" {
		name = "nameless.example.com"
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.made[name]; c != nil {
		return c, nil
	}
	c, err := a.sign(name)
	if err == nil {
		a.made[name] = c
	}
	return c, err
}

func (a *authority) sign(name string) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	t := &x509.Certificate{
		SerialNumber: big.NewInt(int64(len(a.made)) + 2), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: a.cert.NotBefore, NotAfter: a.cert.NotAfter, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, t, a.cert, &key.PublicKey, a.key)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
