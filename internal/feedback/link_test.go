package feedback_test

import (
	"testing"

	"gatherkit/internal/feedback"
)

func TestValidLink(t *testing.T) {
	for address, valid := range map[string]bool{
		"https://github.com/acme/shop/issues/12":                          true,
		"http://localhost:3000/a?b=c#d":                                   true,
		"HTTPS://Jira.example/browse/SHOP-1":                              true,
		"https://bücher.example/ä":                                        true,
		"https://[::1]:8080/":                                             true,
		"https://github.com/acme/issues/new?title={title}&body=a%0A{url}": true,
		"https://tracker.example/{title}":                                 true,
		"":                                                                false,
		"github.com/acme":                                                 false,
		"//github.com/acme":                                               false,
		"/issues/12":                                                      false,
		"https:github.com":                                                false,
		"https://":                                                        false,
		"https:///issues":                                                 false,
		"https://:443/issues":                                             false,
		"javascript:alert(1)":                                             false,
		"JavaScript://github.com/%0Aalert":                                false,
		"data:text/html,x":                                                false,
		"file:///etc/passwd":                                              false,
		"ftp://github.com/":                                               false,
		"https://ada@github.com/":                                         false,
		"https://ada:secret@github.com/":                                  false,
		"https://@github.com/":                                            false,
		`https://github.com\@evil.example/`:                               false,
		"https://github.com /":                                            false,
		"https://github.com/%zz":                                          false,
		"https://{title}.example/":                                        false,
		"https://github.com{url}":                                         false,
		"{url}":                                                           false,
	} {
		if feedback.ValidLink(address) != valid {
			t.Errorf("ValidLink(%q) = %v", address, !valid)
		}
	}
}
