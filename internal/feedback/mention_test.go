package feedback

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestMentioned(t *testing.T) {
	author, ada, eve := ID{1}, ID{0xab, 2}, ID{3}
	of := func(ids ...ID) (body string) {
		for _, id := range ids {
			body += fmt.Sprintf("@[A B](user:%s) ", id)
		}
		return body
	}
	var many []ID
	for i := range MaxMentions + 1 {
		many = append(many, ID{9, byte(i)})
	}
	for name, test := range map[string]struct {
		body string
		want []ID
	}{
		"none":                 {"Hello @Ada, a@[b](c)", nil},
		"sorted":               {of(ada, eve), []ID{eve, ada}},
		"once":                 {of(ada) + of(ada), []ID{ada}},
		"upper case":           {strings.ToUpper(ada.String()) + "@[A](user:" + strings.ToUpper(ada.String()) + ")", []ID{ada}},
		"not oneself":          {of(author, ada), []ID{ada}},
		"the first":            {of(author) + of(many...), many[:MaxMentions]},
		"no UUID":              {"@[A](user:" + strings.Repeat("-", 36) + ")", nil},
		"no name":              {"@[](user:" + ada.String() + ")", nil},
		"two lines":            {"@[A\nB](user:" + ada.String() + ")", nil},
		"another link":         {"[A](user:" + ada.String() + ") @[A](https://" + ada.String() + ")", nil},
		"in code":              {"`" + of(ada) + "` ``a ` " + of(ada) + "`` " + of(eve), []ID{eve}},
		"in a block":           {"a\n```go\n" + of(ada) + "\n\n" + of(ada) + "\n```\n" + of(eve) + "\n  ~~~~\n```\n" + of(ada), []ID{eve}},
		"in a quote":           {"> ```\n> " + of(ada) + "\n> ```\n> " + of(eve) + "\n- ~~~\n  " + of(ada) + "\n  ~~~", []ID{eve}},
		"no code":              {"a ` b\n\n" + of(ada) + " ` c\n- ` d\n- " + of(eve) + "` ``` \\`" + ID{1}.String(), []ID{eve, ada}},
		"escaped":              {"\\`" + of(ada) + " \\\\`" + of(eve) + "`", []ID{ada}},
		"headings":             {"# a ` b\n" + of(ada) + "` c\n```a`\n" + of(eve), []ID{eve, ada}},
		"items":                {"- a ` b\n- " + of(ada) + "` c\n> d ` e\n" + "1. " + of(eve) + "`", []ID{eve, ada}},
		"a fence in a heading": {"# ```\n" + of(ada), []ID{ada}},
		"in a sentence":        {"(ask @[Ä. O'B-C](user:" + ada.String() + "))", []ID{ada}},
	} {
		if got := (Comment{Author: Author{ID: &author}, Body: test.body}).Mentioned(); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestExcerpt(t *testing.T) {
	for body, want := range map[string]string{
		strings.Repeat(" ", 2) + "Hi\n\n\tthere\u2028 you\n": "Hi there you",
		"**@[A B](user:" + ID{7}.String() + ")**, why?":      "**@A B**, why?",
		"a\u202eb":               "ab",
		strings.Repeat("é", 200): strings.Repeat("é", 200),
		strings.Repeat("é", 201): strings.Repeat("é", 199) + "…",
		strings.Repeat("a", 198) + " " + strings.Repeat("b", 9): strings.Repeat("a", 198) + "…",
	} {
		if got := Excerpt(body); got != want {
			t.Errorf("%q: %q, want %q", body, got, want)
		}
	}
}
