//go:build !linux

package testground

func inMemory() string { return "" }
