package follow

import (
	"os"
	"testing"

	"cordon/internal/testground"
)

func TestMain(m *testing.M) { os.Exit(testground.RunInMemory("internal/follow", m)) }
