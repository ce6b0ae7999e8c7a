//go:build !linux

package base

import "errors"

var errSystem = errors.New("bases are layers of an overlay, which this system does not have")

func supported() error      { return errSystem }
func whiteout(string) error { return errSystem }
func flush(string) error    { return errSystem }
