package headers

import "strings"

// AcceptsGzip reports whether the values of Accept-Encoding (RFC 9110, section 12.5.3) allow
// gzip.
func AcceptsGzip(values []string) bool {
	for part := range strings.SplitSeq(strings.Join(values, ","), ",") {
		name, weight, hasWeight := strings.Cut(strings.ReplaceAll(part, " ", ""), ";q=")
		if strings.EqualFold(name, "gzip") {
			return !hasWeight || strings.Trim(weight, "0.") != ""
		}
	}
	return false
}
