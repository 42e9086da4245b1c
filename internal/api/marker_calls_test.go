package api

import (
	"cmp"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"

	"gatherkit/internal/feedback"
	"gatherkit/internal/signed"
)

// outside are the bodies with which people outside call the operations that need no login.
var outside = map[string]func(p *planted, w onlooker) []string{
	"setup-status":       bodies(`{}`),
	"setup-create-owner": bodies(`{"token":"x","account_name":"A","name":"A","email":"new@example.com","password":"long enough"}`),
	"auth-login": bodies(`{"email":"owner@example.com","password":"wrong password"}`,
		`{"email":"nobody@example.com","password":"wrong password"}`),
	"auth-refresh":       bodies(`{"refresh_token":"x"}`),
	"auth-check-invite":  bodies(`{"token":"x"}`),
	"auth-accept-invite": bodies(`{"token":"x","password":"long enough"}`),
	"widget-submit-request": bodies(`{"title":"T","description":""}`,
		`{"title":"T","description":"","idempotency_key":"the same for all"}`, `{"title":"","description":""}`),
	"widget-create-upload":    bodies(`{"filename":"a.txt","content_type":"text/plain","size":5}`),
	"widget-similar-requests": func(p *planted, _ onlooker) []string { return p.each(p.texts, `{"text":%q}`) },
	"widget-vote": func(p *planted, _ onlooker) []string {
		return append(p.each(p.requests, `{"request_id":%q,"voter":"`+voter+`02"}`),
			p.each(p.requests, `{"request_id":%q,"voter":"`+voter+`02","remove":true}`)...)
	},
	"widget-entries":     bodies(`{}`, `{"limit":1}`, `{"limit":50}`, `{"cursor":"x"}`),
	"widget-news":        func(_ *planted, w onlooker) []string { return []string{"{" + w.self() + "}"} },
	"widget-my-requests": func(_ *planted, w onlooker) []string { return listings(w.self()) },
	"widget-my-link":     func(_ *planted, w onlooker) []string { return []string{"{" + w.self() + "}"} },
	"widget-reply":       func(p *planted, w onlooker) []string { return p.replies(w, w.self()) },
	"widget-comment": func(p *planted, w onlooker) []string {
		return append(p.each(p.requests, `{"request_id":%q,"body":"words","voter":"`+voter+`03"}`),
			p.each(p.requests, `{"request_id":%q,"body":"words",`+cmp.Or(w.proven(), `"name":"N","voter":"`+voter+`04"`)+`}`)...)
	},
	"widget-board": func(p *planted, w onlooker) []string {
		proof := cmp.Or(w.proven(), `"voter":"`+voter+`05"`)
		return append(p.each(p.texts, `{"query":%q,`+proof+`}`), `{`+proof+`}`, `{"sort":"new","limit":3}`, `{"cursor":"x"}`)
	},
	"widget-request": func(p *planted, w onlooker) []string {
		return p.each(p.requests, `{"id":%q,`+cmp.Or(w.proven(), `"voter":"`+voter+`05"`)+`}`)
	},
	"widget-portal-link": func(_ *planted, w onlooker) []string {
		proof := cmp.Or(w.proven(), `"identity_token":"x"`)
		return []string{"{" + proof + "}", "{" + proof + `,"to":"roadmap"}`}
	},
	"mine-list":  func(p *planted, w onlooker) []string { return listings(p.holds(w)) },
	"mine-reply": func(p *planted, w onlooker) []string { return p.replies(w, p.holds(w)) },
}

// routeOfDocument is a path that ServeHTTP answers itself.
var routeOfDocument = route{path: "/api/" + openAPIPath}

// outsideRoutes are the calls of people outside to the paths that are not operations.
var outsideRoutes = map[string]func(p *planted, w onlooker) []*http.Request{
	routeOfDocument.path: func(*planted, onlooker) []*http.Request { return gets(routeOfDocument.path) },
	configPath: func(p *planted, w onlooker) []*http.Request {
		return gets(configPath+p.names[w.key]+".json", configPath+p.names[w.key], configPath+"x.json")
	},
	exportPath: func(p *planted, _ onlooker) []*http.Request {
		used := p.link(`{"format":"jsonl"}`)
		p.open(http.MethodGet, used)
		return gets(exportPath+"x", used)
	},
	attachmentPath: func(p *planted, _ onlooker) []*http.Request {
		return gets(p.wrongLinks(attachmentPath, signed.ForDownload)...)
	},
	minePath: (*planted).visits,
	portalPath: func(*planted, onlooker) []*http.Request {
		return gets(portalPath+"none/", portalPath+"none", portalPath)
	},
	hostPath:    func(*planted, onlooker) []*http.Request { return gets(hostPath+"?domain=none.example", hostPath) },
	confirmPath: func(p *planted, _ onlooker) []*http.Request { return p.mailPages(confirmPath, signed.ForConfirm) },
	stopPath:    func(p *planted, _ onlooker) []*http.Request { return p.mailPages(stopPath, signed.ForStop) },
	uploadPath: func(p *planted, _ onlooker) []*http.Request {
		calls := gets(p.wrongLinks(uploadPath, signed.ForUpload)...)
		for _, url := range p.wrongLinks(uploadPath, signed.ForUpload) {
			calls = append(calls, httptest.NewRequest(http.MethodPut, url, strings.NewReader("words")))
		}
		return calls
	},
}

// visits are calls of the page of a link, with the cookie that has it.
func (p *planted) visits(w onlooker) []*http.Request {
	token := p.tokenOf(w)
	calls := gets(minePath, minePath+"?cursor=x", minePath+"?forgotten")
	forms := []url.Values{{"link": {token}}, {"link": {"x"}}}
	for _, id := range p.requests {
		forms = append(forms, url.Values{"do": {"reply"}, "request_id": {id}, "body": {cmp.Or(p.names["said by "+w.name], "words")}})
	}
	for _, form := range forms {
		r := httptest.NewRequest(http.MethodPost, minePath, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.SetPathValue("echoed", form.Get("request_id")) // the page has the form again if it is refused
		calls = append(calls, r)
	}
	for _, r := range calls {
		r.AddCookie(&http.Cookie{Name: mineCookie, Value: token})
	}
	return append(calls, gets(minePath)...)
}

// mailPages are calls of a page of mails with links of an address that has none, and with wrong ones.
func (p *planted) mailPages(path string, purpose signed.Purpose) []*http.Request {
	id := func(name string) feedback.ID {
		parsed, err := feedback.ParseID(name)
		if err != nil {
			p.t.Fatal(err)
		}
		return parsed
	}
	account := id(p.must("auth-me", "owner", "")["account"].(map[string]any)["id"].(string))
	list := []string{"", "x"}
	for _, request := range p.requests {
		l := signed.MailLink{Purpose: purpose, AccountID: account, AppID: id(p.names["app"]), RequestID: id(request)}
		list = append(list, l.Text(p.api.mailKey), l.Text(p.api.linkKey))
	}
	var calls []*http.Request
	for _, token := range list {
		calls = append(calls, gets(path+"?t="+token)...)
		r := httptest.NewRequest(http.MethodPost, path+"?t="+token, strings.NewReader("do=stop"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		calls = append(calls, r)
	}
	return calls
}

func bodies(list ...string) func(*planted, onlooker) []string {
	return func(*planted, onlooker) []string { return list }
}

func (p *planted) each(values []string, format string) []string {
	var list []string
	for _, v := range values {
		list = append(list, fmt.Sprintf(format, v))
	}
	return list
}

// self are the parameters with which an onlooker says who they are.
func (w onlooker) self() string { return cmp.Or(w.proven(), fmt.Sprintf(`"reader":%q`, w.reader)) }

// proven is the parameter that proves who an onlooker is, or "".
func (w onlooker) proven() string {
	if w.proof == "" {
		return ""
	}
	return fmt.Sprintf(`"identity_token":%q`, w.proof)
}

// holds is the parameter with an onlooker's link. Those who have none send one that does not work.
func (p *planted) holds(w onlooker) string {
	return fmt.Sprintf(`"token":%q`, p.tokenOf(w))
}

func (p *planted) tokenOf(w onlooker) string {
	if w.token == "" {
		return strings.Repeat("0", 70)
	}
	return p.names[w.token]
}

func listings(self string) []string {
	return []string{
		"{" + self + "}", "{" + self + `,"limit":50}`, "{" + self + `,"limit":1}`,
		"{" + self + `,"seen_until":"2026-06-01T00:00:00Z"}`, "{" + self + `,"cursor":"x"}`,
	}
}

// replies answer to every request. A repeated answer is not stored again.
func (p *planted) replies(w onlooker, self string) []string {
	return p.each(p.requests, "{"+self+`,"request_id":%q,"body":"`+cmp.Or(p.names["said by "+w.name], "words")+`"}`)
}

// wrongLinks are links to the only file that do not work: changed, expired, and for another purpose.
func (p *planted) wrongLinks(path string, purpose signed.Purpose) []string {
	attached := p.must("requests-get", "owner", p.filled(`{"id":"{own}"}`))["request"].(map[string]any)["attachments"].([]any)[0]
	file := attached.(map[string]any)
	id, err := feedback.ParseID(file["id"].(string))
	if err != nil {
		p.t.Fatal(err)
	}
	account, err := feedback.ParseID(p.must("auth-me", "owner", "")["account"].(map[string]any)["id"].(string))
	if err != nil {
		p.t.Fatal(err)
	}
	soon := p.clock.Now().Add(feedback.SendLife)
	good := signed.FileLink{Purpose: purpose, AccountID: account, FileID: id, Until: feedback.At(soon)}.Text(p.api.linkKey)
	wrong := signed.FileLink{Purpose: 3 - purpose, AccountID: account, FileID: id, Until: feedback.At(soon)}.Text(p.api.linkKey)
	expired := signed.FileLink{Purpose: purpose, AccountID: account, FileID: id, Until: feedback.At(p.clock.Now())}.Text(p.api.linkKey)
	flipped := strings.Replace(good, good[20:22], "__", 1)
	return []string{path + flipped, path + good[:len(good)-2], path + wrong, path + expired, path + id.String(), path}
}

func gets(paths ...string) []*http.Request {
	var list []*http.Request
	for _, path := range paths {
		list = append(list, httptest.NewRequest(http.MethodGet, path, http.NoBody), httptest.NewRequest(http.MethodHead, path, http.NoBody))
	}
	return list
}

var markerText = regexp.MustCompile(`zqx\d+y`)

// markersIn returns the markers in a text, which is in lower case.
func (p *planted) markersIn(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, found := range markerText.FindAllString(text, -1) {
			if !yield(found) {
				return
			}
		}
		for marker := range p.markers {
			if !strings.HasPrefix(marker, "zqx") && strings.Contains(text, marker) && !yield(marker) {
				return
			}
		}
	}
}
