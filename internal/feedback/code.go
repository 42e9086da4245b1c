package feedback

import (
	"regexp"
	"strings"
)

// blockStart is what stands before the text of a line of Markdown: spaces, and the marks of quotes, lists and
// headings.
var blockStart = regexp.MustCompile(`^ *(?:(?:>|[-*+] |\d{1,9}[.)] |#{1,6} ) *)*`)

// openFence is a line that opens a block of code.
var openFence = regexp.MustCompile("^(`{3,}|~{3,})[^`]*$")

// withoutCode returns a text in Markdown without its code: fenced blocks, and spans between equal runs of
// backticks. The dashboard finds code by the same rules (mentions.ts).
func withoutCode(text string) string {
	if !strings.ContainsAny(text, "`~") {
		return text
	}
	var kept, paragraph strings.Builder
	end := func() {
		kept.WriteString(withoutSpans(paragraph.String()))
		paragraph.Reset()
	}
	fence := "" // of the block that is open
	for line := range strings.Lines(strings.ReplaceAll(text, "\t", "    ")) {
		if fence != "" {
			if rest := strings.Trim(line, "> \r\n"); len(rest) >= len(fence) && strings.Trim(rest, fence[:1]) == "" {
				fence = ""
			}
			continue
		}
		start := blockStart.FindString(line)
		rest := strings.TrimRight(line[len(start):], " \r\n")
		if found := openFence.FindStringSubmatch(rest); found != nil && !strings.Contains(start, "#") {
			fence = found[1]
			end()
			continue
		}
		if rest == "" || strings.TrimSpace(start) != "" {
			end()
		}
		paragraph.WriteString(line)
		if strings.Contains(start, "#") {
			end()
		}
	}
	end()
	return kept.String()
}

// withoutSpans returns a paragraph without its spans of code.
func withoutSpans(text string) string {
	var kept strings.Builder
	unclosed := map[int]bool{} // lengths of runs that nothing closes
	for text != "" {
		at := strings.IndexAny(text, "\\`")
		if at < 0 {
			break
		}
		kept.WriteString(text[:at])
		text = text[at:]
		n := len(text) - len(strings.TrimLeft(text, "`"))
		if n == 0 { // a backslash, and what it escapes
			n = min(2, len(text))
		} else if !unclosed[n] {
			if end := closing(text[n:], n); end >= 0 {
				kept.WriteByte(' ')
				text = text[n+end+n:]
				continue
			}
			unclosed[n] = true
		}
		kept.WriteString(text[:n])
		text = text[n:]
	}
	return kept.String() + text
}

// closing returns where the first run of n backticks begins, or -1.
func closing(text string, n int) int {
	for at := 0; at < len(text); {
		next := strings.IndexByte(text[at:], '`')
		if next < 0 {
			return -1
		}
		at += next
		run := len(text[at:]) - len(strings.TrimLeft(text[at:], "`"))
		if run == n {
			return at
		}
		at += run
	}
	return -1
}
