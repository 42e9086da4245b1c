package mail

import "context"

// Sweep is sweep, for tests.
func (s *Sender) Sweep(ctx context.Context) error { return s.sweep(ctx) }
