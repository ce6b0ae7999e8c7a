package worksite

import "cordon/internal/config"

// Operator is the operator's own configuration, read once. A file that is not understood,
// or that others can write, is an error.
func (s *Site) Operator() (config.Loaded, error) {
	if s.operator == nil {
		l, err := config.Load()
		if err != nil {
			return config.Loaded{}, err
		}
		s.operator = &l
	}
	return *s.operator, nil
}
