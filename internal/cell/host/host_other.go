//go:build !linux

package host

import "cordon/internal/cell/plan"

// Find looks at nothing: there is nothing to plan for.
func Find(plan.Order) (plan.Host, error) { return plan.Host{}, nil }

// Restrictions lists none: there is no cell here that they could refuse.
func Restrictions() []Restriction { return nil }

// VolumeLine knows no container here.
func VolumeLine(string) string { return "" }

// Container names none.
func Container() string { return "" }
