package partial

import (
	"math"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// IsOperand reports whether a text is one operand.
func IsOperand(s string) bool {
	s = strings.TrimSpace(s)
	return s == "" || strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_#@") == ""
}

// Number reads a number: 10, 010, 0x10, 2#10.
func Number(s string) (int, bool) {
	if s == "" {
		return 0, true
	}
	if strings.ContainsAny(s, "_oObB") {
		return 0, false
	}
	base := 0
	if head, digits, ok := strings.Cut(s, "#"); ok {
		base, _ = strconv.Atoi(head)
		base, s = max(2, base), digits
	}
	n, err := strconv.ParseInt(s, base, 64)
	return int(n), err == nil
}

// Compute is an operator of two numbers. Those that paths are hardly made with
// give a number that is not known.
func Compute(op syntax.BinAritOperator, x, y int) (int, bool) {
	switch op {
	case syntax.Add:
		return x + y, true
	case syntax.Sub:
		return x - y, true
	case syntax.Mul:
		return x * y, true
	case syntax.Quo:
		return x / max(y, 1), y > 0
	case syntax.Rem:
		return x % max(y, 1), y > 0
	case syntax.Pow:
		return int(math.Pow(float64(x), float64(y))), y >= 0
	case syntax.Eql:
		return OneIf(x == y), true
	case syntax.Neq:
		return OneIf(x != y), true
	case syntax.Gtr:
		return OneIf(x > y), true
	case syntax.Lss:
		return OneIf(x < y), true
	case syntax.Leq:
		return OneIf(x <= y), true
	case syntax.Geq:
		return OneIf(x >= y), true
	}
	return 0, false
}

func OneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}
