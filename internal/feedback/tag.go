package feedback

import (
	"slices"
)

// MaxTags is the maximum number of tags per request.
const MaxTags = 20

// CleanTags removes tags that differ only in case from an earlier one.
func CleanTags(tags []string) []string {
	clean := make([]string, 0, len(tags))
	for _, tag := range tags {
		same := func(other string) bool { return Fold(other) == Fold(tag) }
		if !slices.ContainsFunc(clean, same) {
			clean = append(clean, tag)
		}
	}
	return clean
}

// Tag is a tag and the number of live requests of the account that have it.
type Tag struct {
	Tag      string `json:"tag"`
	Requests int64  `json:"requests" doc:"Number of live requests with this tag."`
}
