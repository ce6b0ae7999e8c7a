package dns

import (
	"os"
	"testing"

	"cordon/internal/testground"
)

func TestMain(m *testing.M) { os.Exit(testground.Run("internal/egress/dns", m)) }
