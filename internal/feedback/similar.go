package feedback

import "slices"

// Similar is a request that is like a text, and how much so.
type Similar struct {
	ID     ID
	Title  string
	Status Status
	Votes  int64
	Score  float64 // from 0 to 1
}

// Shared lists the statuses of the requests that widget users may see; none is nothing.
func (s Settings) Shared() []Status {
	switch s.Sharing {
	case "all":
		return Statuses()
	case "triaged":
		return slices.DeleteFunc(Statuses(), func(status Status) bool {
			return status == Opened || status == "declined" || status == Duplicate
		})
	}
	return nil
}
