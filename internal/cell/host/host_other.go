//go:build !linux

package host

import "cordon/internal/cell/plan"

// Survey is empty: there is nothing to plan for.
type Survey struct{}

// Look looks at nothing.
func Look() Survey { return Survey{} }

// Find finds nothing.
func Find(plan.Order, Survey) (plan.Host, error) { return plan.Host{}, nil }

// Restrictions lists none: there is no cell here that they could refuse.
func Restrictions() []Restriction { return nil }

// VolumeLine knows no container here.
func VolumeLine(string) string { return "" }

// Container names none.
func Container() string { return "" }
