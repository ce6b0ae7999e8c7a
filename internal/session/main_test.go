package session

import (
	"os"
	"testing"

	"cordon/internal/cell"
)

// The workers of these tests run in cells, which this program starts itself in.
func TestMain(m *testing.M) {
	cell.Init()
	os.Exit(m.Run())
}
