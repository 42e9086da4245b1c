package api

import (
	"fmt"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"gatherkit/internal/calls"
)

// hostileLength is the approximate length of hostile values. It leaves space for the other
// parameters in a body of the maximum size.
const hostileLength = calls.MaxBody - 1<<10

// hostileValues returns hostile values by name.
var hostileValues = sync.OnceValue(func() map[string]string {
	const length = hostileLength
	list := func(part func(i int) string) string { return filledUp("[", part, "]") }
	kinds := []string{"1", `"a"`, "null", "true", "[]", "{}", "1.5", `[[1]]`, `{"a":1}`}
	return map[string]string{
		"equal numbers":       list(always("1")),
		"numbers":             list(func(i int) string { return fmt.Sprint(i) }),
		"lists of a number":   list(func(i int) string { return fmt.Sprintf("[%d]", i) }),
		"lists of two":        list(func(i int) string { return fmt.Sprintf(`["%d",%d]`, i/2, i/2) }),
		"empty lists":         list(always("[]")),
		"empty objects":       list(always("{}")),
		"objects of a number": list(func(i int) string { return fmt.Sprintf(`{"k":%d}`, i) }),
		"empty texts":         list(always(`""`)),
		"texts":               list(func(i int) string { return fmt.Sprintf(`"%d"`, i) }),
		"long texts":          list(func(i int) string { return fmt.Sprintf(`"%d%s"`, i, strings.Repeat("x", 250)) }),
		"ids":                 list(anotherID),
		"statuses":            list(always(`"opened"`)),
		"nulls":               list(always("null")),
		"all kinds":           list(func(i int) string { return kinds[i%len(kinds)] }),
		"deep lists":          nested("[", "", "]", length/2),
		"9,000 lists":         nested("[", "", "]", 9000),
		"9,000 lists, often":  list(always(nested("[", "", "]", 9000))),
		"deep objects":        nested(`{"a":`, "1", "}", length/6),
		"9,000 objects":       nested(`{"a":`, "1", "}", 9000),
		"open lists":          strings.Repeat("[", length),
		"a list without end":  strings.TrimSuffix(list(always("1")), "]"),
		"digits":              strings.Repeat("9", length),
		"a fraction":          "0." + strings.Repeat("0", length-3) + "1",
		"an exponent":         "1e" + strings.Repeat("9", length-2),
		"a negative exponent": "-1e-" + strings.Repeat("9", length-4),
		"digits and exponent": strings.Repeat("1", length/2) + "e-" + strings.Repeat("0", length/2-10) + "3",
		"letters":             longText("a"),
		"spaces":              longText(" "),
		"words":               longText("ab "),
		"escapes":             longText(`\u00e9`),
		"surrogate pairs":     longText(`\ud83d\ude00`),
		"backslashes":         longText(`\\`),
		"NULs":                longText(`\u0000`),
		"CJK":                 longText("漢"),
		"combining marks":     longText("\u0301"),
		"ligatures":           longText("\ufdfa"),
		"an address":          `"` + strings.Repeat("a.", length/4) + "@" + strings.Repeat("b.", length/4-3) + `"`,
		"invalid UTF-8":       strings.TrimSuffix(longText("a"), `a"`) + "\xff" + `"`,
		"half a pair":         strings.TrimSuffix(longText(`\ud83d\ude00`), `\ude00"`) + `"`,
		"a text without end":  strings.TrimSuffix(longText("a"), `"`),
		"white space":         strings.Repeat(" ", length-1) + "1",
	}
})

// unknownKeys are objects with unknown keys, by name.
var unknownKeys = sync.OnceValue(func() map[string]string {
	wide := filledUp("{", func(i int) string { return fmt.Sprintf(`"k%d":1`, i) }, "}")
	key := func(name string) string { return `{"` + name + `":1}` }
	named := func(prefix string) string {
		return filledUp("{", func(i int) string { return fmt.Sprintf(`"%s%d":1`, prefix, i) }, "}")
	}
	return map[string]string{
		"keys":                 wide,
		"keys with lists":      filledUp("{", func(i int) string { return fmt.Sprintf(`"k%d":[%d]`, i, i) }, "}"),
		"keys of 200":          named(strings.Repeat("k", 200)),
		"keys of 30,000":       named(strings.Repeat("k", 30_000)),
		"a long key":           key(strings.Repeat("k", hostileLength-8)),
		"a key of escapes":     key(strings.Repeat(`\u00e9`, hostileLength/6-2)),
		"a key of NULs":        key(strings.Repeat(`\u0000`, hostileLength/6-2)),
		"a key of marks":       key(strings.Repeat("\u0301", hostileLength/2-4)),
		"a repeated key":       wide[:strings.LastIndex(wide, ",")] + `,"k0":1}`,
		"an invalid key":       wide[:strings.LastIndex(wide, ",")] + ",\"\xff\":1}",
		"an object and a half": wide[:len(wide)/2],
	}
})

// hostileObjects returns hostile objects by name. Some of them have the key known.
func hostileObjects(known string) map[string]string {
	room := hostileLength - len(known) - 5
	objects := map[string]string{
		"slips of the key":   filledUp("{", func(i int) string { return fmt.Sprintf(`"%s%d":1`, known, i) }, "}"),
		"the key again":      filledUp("{", always(`"`+known+`":1`), "}"),
		"the key and a list": `{"` + known + `":` + hostileValues()["lists of a number"] + "}",
		"the key and digits": `{"` + known + `":` + strings.Repeat("9", room) + "}",
	}
	for name, object := range unknownKeys() {
		objects[name] = object
	}
	return objects
}

// longest returns the longest texts and lists that a schema accepts.
func longest(schema *huma.Schema) map[string]string {
	values := map[string]string{}
	switch {
	case schema.Type == huma.TypeString && schema.MaxLength != nil:
		n := *schema.MaxLength
		for name, part := range map[string]string{
			"letters": "a", "words": "a ", "CJK": "漢", "marks": "\u0301", "ligatures": "\ufdfa", "wide letters": "𝔘", "lines": "a\n",
		} {
			values["longest of "+name] = fmt.Sprintf("%q", string([]rune(strings.Repeat(part, n))[:n-1])+"a")
		}
		var different strings.Builder
		for i := range n {
			different.WriteRune(rune('一' + i))
		}
		values["longest of different letters"] = `"` + different.String() + `"`
	case schema.Type == huma.TypeArray:
		items := make([]string, *schema.MaxItems)
		for i := range items {
			items[i] = anotherID(i)
		}
		values["longest list"] = "[" + strings.Join(items, ",") + "]"
	}
	return values
}

// filledUp returns a list or an object of about hostileLength.
func filledUp(open string, part func(i int) string, end string) string {
	var b strings.Builder
	b.WriteString(open)
	for i := 0; ; i++ {
		next := part(i)
		if b.Len()+1+len(next)+len(end) > hostileLength {
			return b.String() + end
		}
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(next)
	}
}

func always(part string) func(int) string { return func(int) string { return part } }

func anotherID(i int) string { return fmt.Sprintf(`"01234567-89ab-7def-8123-%012x"`, i) }

func nested(open, inner, end string, levels int) string {
	return strings.Repeat(open, levels) + inner + strings.Repeat(end, levels)
}

func longText(part string) string {
	return `"` + strings.Repeat(part, (hostileLength-2)/len(part)) + `"`
}
