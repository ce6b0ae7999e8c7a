package screens

import (
	"os"
	"testing"

	"cordon/internal/testground"
)

func TestMain(m *testing.M) { os.Exit(testground.Run("internal/deskweb/screens", m)) }
