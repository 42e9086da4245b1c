package uploads

// MaxWaitingOfFrom is how many bytes of files from one address to one app wait to be
// attached, and MinWaiting what the smallest file counts as.
const (
	MaxWaitingOfFrom = maxWaitingOfFrom
	MinWaiting       = minWaiting
)
