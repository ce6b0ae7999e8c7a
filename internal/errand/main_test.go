package errand

import (
	"os"
	"testing"

	"cordon/internal/testground"
)

func TestMain(m *testing.M) { os.Exit(testground.Run("internal/errand", m)) }
