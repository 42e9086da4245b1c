package feedback

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// MaxMentions is how many users a comment can mention.
const MaxMentions = 20

// mention is how a comment names a user. The id decides, because names change; the text in brackets is
// for people who read the comment as it is stored.
var mention = regexp.MustCompile(`@\[([^\[\]\n]{1,200})\]\(user:([0-9A-Fa-f-]{36})\)`)

// Mentioned returns the first MaxMentions ids in the mentions of a comment, without those in code and those
// of its author, sorted. There may be no such users.
func (c Comment) Mentioned() []ID {
	var ids []ID
	for _, found := range mention.FindAllStringSubmatch(withoutCode(c.Body), -1) {
		id, err := ParseID(found[2])
		if err == nil && !c.Author.Is(id) && !slices.Contains(ids, id) && len(ids) < MaxMentions {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, ID.Compare)
	return ids
}

// Mention tells a user that somebody has mentioned them in a comment.
type Mention struct {
	ID           ID     `json:"id" format:"uuid"`
	RequestID    ID     `json:"request_id" format:"uuid"`
	RequestTitle string `json:"request_title"`
	CommentID    ID     `json:"comment_id" format:"uuid"`
	Author       Author `json:"author" doc:"Who wrote the comment."`
	Excerpt      string `json:"excerpt" doc:"The beginning of the comment on one line: at most 200 characters, with names in place of mentions."`
	Read         bool   `json:"read"`
	CreatedAt    Time   `json:"created_at" format:"date-time"`
}

// ForOutsiders returns the text of a comment for people outside the account, who never see the names of
// users: mentions have the name of the app.
func ForOutsiders(body, app string) string {
	return mention.ReplaceAllLiteralString(body, "@"+app)
}

// excerptLength is in characters.
const excerptLength = 200

// Excerpt returns the beginning of a comment on one line, with names in place of mentions. A longer
// text ends with an ellipsis.
func Excerpt(body string) string {
	body = mention.ReplaceAllString(body, "@$1")
	return Shorten(strings.Join(strings.FieldsFunc(ToSingleLine(body), unicode.IsSpace), " "), excerptLength)
}
