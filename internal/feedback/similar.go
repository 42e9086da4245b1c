package feedback

import "slices"

// Similar is a request that is similar to a text.
type Similar struct {
	ID     ID
	Title  string
	Status Status
	Votes  int64
	Score  float64 // similarity, from 0 to 1
}

// Shared returns the statuses of the requests that widget users may see, unless these are hidden.
// It returns nil if they may see none.
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
