package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
)

// measurePortal measures pages of the portal of an app with o.size requests.
func measurePortal(ctx context.Context, o options, r rig) error {
	_, app, err := r.addApp(ctx)
	if err != nil {
		return err
	}
	settings := fmt.Sprintf(`{"id":%q,"settings":{"sharing":"all","portal":{"slug":"bench","access":"public"}}}`, app)
	if err := r.call(ctx, "apps-update-settings", settings, nil); err != nil {
		return err
	}
	_, others, err := r.addApp(ctx)
	if err != nil {
		return err
	}
	f, err := newFiller(ctx, r, newSpeech(), app, others)
	if err != nil {
		return err
	}
	if _, err := f.buildIndex(ctx, o.size, o.size); err != nil {
		return err
	}
	text, tag, err := r.visit(ctx, "", "", http.StatusOK)
	if err != nil {
		return err
	}
	idea := ideaPath.FindSubmatch(text)
	if idea == nil {
		return fmt.Errorf("the board has no idea: %s", text)
	}
	var calls []*timed
	for _, page := range []struct{ name, path, tag string }{
		{"board", "", ""},
		{"board, unchanged", "", tag},
		{"newest ideas", "?sort=new", ""},
		{"trending ideas", "?sort=trending", ""},
		{"an idea", string(idea[1]), ""},
		{"search for `segment`", "?q=segment", ""},
		{"search for `segment`, newest", "?q=segment&sort=new", ""},
		{"search for `and`", "?q=and", ""},
		{"roadmap", "roadmap", ""},
	} {
		status := http.StatusOK
		if page.tag != "" {
			status = http.StatusNotModified
		}
		calls = append(calls, &timed{name: page.name, call: func(ctx context.Context) error {
			_, _, err := r.visit(ctx, page.path, page.tag, status)
			return err
		}})
	}
	if err := r.timeAll(ctx, o, `{"limit":30}`, calls); err != nil {
		return err
	}
	fmt.Printf("\n%d requests:\n\n| page | %s |\n| --- | %s |\n", o.size, timedHeader, timedRule)
	for _, c := range calls {
		fmt.Printf("| %s | %s |\n", c.name, c.columns())
	}
	return nil
}

var ideaPath = regexp.MustCompile(`href="/p/bench/(r/[^"]+)"`)

// visit gets a page of the portal, which a browser has with a tag or not, and returns its new tag.
func (s *service) visit(ctx context.Context, page, known string, status int) (text []byte, tag string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/p/bench/"+page, http.NoBody)
	if err != nil {
		return nil, "", err
	}
	if known != "" {
		r.Header.Set("If-None-Match", known)
	}
	response, err := client.Do(r)
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close() //nolint:errcheck // the body is read below
	if text, err = io.ReadAll(response.Body); err == nil && response.StatusCode != status {
		err = fmt.Errorf("%s: %d %.200s", page, response.StatusCode, text)
	}
	return text, response.Header.Get("ETag"), err
}
