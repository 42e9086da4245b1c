package metrics

import (
	"regexp"
	"strings"
)

// traceParent is the header by which a proxy or a caller names the trace that a call is part of
// (W3C Trace Context, 3.2).
var traceParent = regexp.MustCompile(`^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(-|$)`)

// TraceID returns the id of the trace in a traceparent header, or "".
func TraceID(header string) string {
	if header == "" || len(header) > 128 {
		return ""
	}
	match := traceParent.FindStringSubmatch(header)
	if len(match) < 2 || strings.Trim(match[1], "0") == "" {
		return ""
	}
	return match[1]
}
