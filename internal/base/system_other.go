//go:build !linux

package base

import "errors"

var errSystem = errors.New("bases need overlayfs, which this system does not have")

func supported() error                  { return errSystem }
func whiteout(string) error             { return errSystem }
func flush(string) error                { return errSystem }
func onBtrfs(string) bool               { return false }
func isSubvolume(string) bool           { return false }
func makeSubvolume(string) error        { return errSystem }
func makeSnapshot(string, string) error { return errSystem }
func nextInode(string) (uint64, error)  { return 0, errSystem }
