package limit

import (
	"os"
	"testing"

	"cordon/internal/testground"
)

func TestMain(m *testing.M) { os.Exit(testground.Run("internal/cell/limit", m)) }
