package feedback

import (
	"slices"
	"strings"
)

// MaxTags is how many tags one request may have.
const MaxTags = 20

// FoldTag is the form in which tags are compared: without case.
func FoldTag(tag string) string { return strings.ToLower(strings.TrimSpace(tag)) }

// CleanTags drops tags that say the same again; the first spelling stays.
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

// Tag is a tag and how many of the account's live requests have it.
type Tag struct {
	Tag      string `json:"tag"`
	Requests int64  `json:"requests" doc:"Live requests that have it."`
}
