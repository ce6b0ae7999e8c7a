package jetstream

import (
	"net"
	"time"
)

// gone is how long the other side may be silent before its connection counts as lost.
const gone = 30 * time.Second

// dialer connects a node to the home's own engine. The kernels of both machines ask each other whether the other is still
// there, which costs the processes nothing.
func dialer() *net.Dialer {
	return &net.Dialer{
		Timeout:         patience,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: gone / 3, Interval: gone / 6, Count: 4},
		Control:         giveUp,
	}
}
