package feedback

import "net/url"

// Link is the address of an issue, or of another page, that the team has linked to a request.
type Link struct {
	ID        ID     `json:"id" format:"uuid"`
	RequestID ID     `json:"request_id" format:"uuid"`
	URL       string `json:"url"`
	Author    Author `json:"author"`
	CreatedAt Time   `json:"created_at" format:"date-time"`
}

// ValidLink reports whether a page may link to the address: it begins with http or https, and has a host
// but no user name or password. In a template of addresses, url.Parse refuses braces in the host.
func ValidLink(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil
}
