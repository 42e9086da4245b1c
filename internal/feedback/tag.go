package feedback

import (
	"slices"
	"strings"
)

// MaxTags is the maximum number of tags per request.
const MaxTags = 20

// FoldTag returns the form in which tags are compared: in lower case and without
// surrounding white space.
func FoldTag(tag string) string { return strings.ToLower(strings.TrimSpace(tag)) }

// CleanTags removes tags that differ only in case from an earlier one.
func CleanTags(tags []string) []string {
	clean := make([]string, 0, len(tags))
	for _, tag := range tags {
		same := func(other string) bool { return FoldTag(other) == FoldTag(tag) }
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
