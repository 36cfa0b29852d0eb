package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
)

// A private key as kube-apiserver reads it.
func newKey() string {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	bytes, err := x509.MarshalECPrivateKey(key)
	check(err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: bytes}))
}
