package api

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"gatherkit/internal/feedback"
	"gatherkit/internal/identity"
	"gatherkit/internal/store/storetest"
)

// signedToken returns an identity token, signed as a customer's backend would.
func signedToken(t testing.TB, secret, claims string) string {
	t.Helper()
	return signedBy(t, jwt.SigningMethodHS256, []byte(secret), claims)
}

func signedBy(t testing.TB, method jwt.SigningMethod, key any, claims string) string {
	t.Helper()
	var fields jwt.MapClaims
	if err := json.Unmarshal([]byte(claims), &fields); err != nil {
		t.Fatalf("%s: %v", claims, err)
	}
	token, err := jwt.NewWithClaims(method, fields).SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// byHand returns a token with the given header and claims, and a valid signature.
func byHand(t testing.TB, secret, header, claims string) string {
	t.Helper()
	encode := base64.RawURLEncoding.EncodeToString
	text := encode([]byte(header)) + "." + encode([]byte(claims))
	signature, err := jwt.SigningMethodHS256.Sign(text, []byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + encode(signature)
}

const (
	testSecret = "gis_secret of the app"
	oldSecret  = "gis_secret before"
)

var (
	testAppID = feedback.ID{1, 2, 3}
	testNow   = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
)

// claimsWith returns valid claims with one of them added or replaced.
func claimsWith(more string) string {
	return fmt.Sprintf(`{"sub":"42","exp":%d%s}`, testNow.Add(time.Minute).Unix(), more)
}

// TestIdentity: only tokens that expire and are signed with HS256 and one of the secrets are
// accepted, and expired tokens have their own error.
func TestIdentity(t *testing.T) {
	at := func(d time.Duration) int64 { return testNow.Add(d).Unix() }
	good := claimsWith("")
	text := func(claims string) string { return signedToken(t, testSecret, claims) }
	parts := strings.Split(text(good), ".")
	header := `{"alg":"HS256","typ":"JWT"}`
	none := signedBy(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, good)
	for name, c := range map[string]struct{ token, want string }{
		"good":                    {text(good), ""},
		"secret before":           {signedToken(t, oldSecret, good), ""},
		"meant for the app":       {text(claimsWith(`,"aud":"` + testAppID.String() + `"`)), ""},
		"meant for the app, too":  {text(claimsWith(`,"aud":["x","` + testAppID.String() + `"]`)), ""},
		"other claims":            {text(claimsWith(`,"iss":"x","iat":9999999999,"role":{"a":[1]},"email_verified":false`)), ""},
		"no e-mail":               {text(claimsWith(`,"email":null,"name":""`)), ""},
		"longest id":              {text(claimsWith(`,"sub":"` + strings.Repeat("ö", 200) + `"`)), ""},
		"ends in a day":           {text(fmt.Sprintf(`{"sub":"42","exp":%d}`, at(24*time.Hour+30*time.Second))), ""},
		"name of two lines":       {text(claimsWith(`,"name":"\u202eAda\nL."`)), ""},
		"header of other words":   {byHand(t, testSecret, `{"alg":"HS256","kid":"1","x":{"alg":"none"}}`, good), ""},
		"ends later":              {text(fmt.Sprintf(`{"sub":"42","exp":%d}`, at(24*time.Hour+31*time.Second))), "a day ahead"},
		"ends in milliseconds":    {text(fmt.Sprintf(`{"sub":"42","exp":%d}`, testNow.Add(time.Minute).UnixMilli())), "a day ahead"},
		"ends never":              {text(`{"sub":"42","exp":1e308}`), "a day ahead"},
		"two persons":             {byHand(t, testSecret, header, claimsWith(`,"sub":"43"`)), "duplicate"},
		"two persons, escaped":    {byHand(t, testSecret, header, claimsWith(`,"su\u0062":"43"`)), "duplicate"},
		"two ends":                {byHand(t, testSecret, header, claimsWith(fmt.Sprintf(`,"exp":%d`, at(time.Hour)))), "duplicate"},
		"two of something":        {byHand(t, testSecret, header, claimsWith(`,"x":{"a":1,"a":2}`)), "duplicate"},
		"two methods":             {byHand(t, testSecret, `{"alg":"none","alg":"HS256"}`, good), "duplicate"},
		"no UTF-8":                {byHand(t, testSecret, header, claimsWith(",\"name\":\"\xff\"")), "UTF-8"},
		"expired, two persons":    {byHand(t, testSecret, header, fmt.Sprintf(`{"sub":"42","exp":%d,"sub":"43"}`, at(-time.Hour))), "duplicate"},
		"person of two lines":     {text(claimsWith(`,"sub":"4\n2"`)), "sub must be a single line"},
		"address that turns":      {text(claimsWith(`,"email":"a\u202eb@example.com"`)), "email"},
		"expired within leeway":   {text(fmt.Sprintf(`{"sub":"42","exp":%d}`, at(-29*time.Second))), ""},
		"begins within leeway":    {text(claimsWith(fmt.Sprintf(`,"nbf":%d`, at(30*time.Second)))), ""},
		"line break at the end":   {text(good) + "\n", ""},
		"expired":                 {text(fmt.Sprintf(`{"sub":"42","exp":%d}`, at(-30*time.Second))), "widget.identity_expired"},
		"expired, no person":      {text(fmt.Sprintf(`{"exp":%d}`, at(-time.Hour))), "sub"},
		"expired, another app's":  {text(fmt.Sprintf(`{"sub":"42","exp":%d,"aud":"x"}`, at(-time.Hour))), "aud"},
		"expired, not yet begun":  {text(fmt.Sprintf(`{"sub":"42","exp":%d,"nbf":%d}`, at(-time.Hour), at(time.Hour))), "nbf"},
		"expired, wrong secret":   {signedToken(t, "x", fmt.Sprintf(`{"sub":"42","exp":%d}`, at(-time.Hour))), "HS256"},
		"not yet begun":           {text(claimsWith(fmt.Sprintf(`,"nbf":%d`, at(31*time.Second)))), "nbf"},
		"no end":                  {text(`{"sub":"42"}`), "exp"},
		"end that is null":        {text(`{"sub":"42","exp":null}`), "HS256"},
		"end that is text":        {text(`{"sub":"42","exp":"9999999999"}`), "HS256"},
		"end in capitals":         {text(`{"sub":"42","EXP":9999999999}`), "exp"},
		"another app's":           {text(claimsWith(`,"aud":"` + feedback.ID{9}.String() + `"`)), "aud"},
		"meant for no text":       {text(claimsWith(`,"aud":7`)), "aud"},
		"meant for nobody":        {text(claimsWith(`,"aud":[]`)), "aud"},
		"no person":               {text(claimsWith(`,"sub":""`)), "sub"},
		"person in capitals":      {text(fmt.Sprintf(`{"SUB":"42","exp":%d}`, at(time.Minute))), "sub"},
		"person that is blank":    {text(claimsWith(`,"sub":" \t"`)), "sub"},
		"person that is a number": {text(claimsWith(`,"sub":42`)), "sub"},
		"person with NUL":         {text(claimsWith(`,"sub":"4\u00002"`)), "sub"},
		"person that is long":     {text(claimsWith(`,"sub":"` + strings.Repeat("ö", 201) + `"`)), "sub"},
		"no address":              {text(claimsWith(`,"email":"ada"`)), "email"},
		"wrong secret":            {signedToken(t, "x", good), "HS256"},
		"no secret":               {signedToken(t, "", good), "HS256"},
		"HS384":                   {signedBy(t, jwt.SigningMethodHS384, []byte(testSecret), good), "HS256"},
		"HS512":                   {signedBy(t, jwt.SigningMethodHS512, []byte(testSecret), good), "HS256"},
		"none":                    {none, "HS256"},
		"none, signed":            {byHand(t, testSecret, `{"alg":"none"}`, good), "HS256"},
		"None":                    {byHand(t, testSecret, `{"alg":"None"}`, good), "HS256"},
		"RS256 by the secret":     {byHand(t, testSecret, `{"alg":"RS256"}`, good), "HS256"},
		"hs256":                   {byHand(t, testSecret, `{"alg":"hs256"}`, good), "HS256"},
		"no method":               {byHand(t, testSecret, `{}`, good), "HS256"},
		"no header":               {byHand(t, testSecret, `null`, good), "HS256"},
		"no claims":               {byHand(t, testSecret, header, `null`), "exp"},
		"claims in a list":        {byHand(t, testSecret, header, `[`+good+`]`), "HS256"},
		"unknown extension":       {byHand(t, testSecret, `{"alg":"HS256","crit":["b64"],"b64":false}`, good), "HS256"},
		"key of its own":          {byHand(t, "k", `{"alg":"HS256","jwk":{"kty":"oct","k":"aw"},"kid":"../../k"}`, good), "HS256"},
		"unsigned":                {parts[0] + "." + parts[1] + ".", "HS256"},
		"without signature":       {parts[0] + "." + parts[1], "HS256"},
		"four parts":              {text(good) + ".x", "HS256"},
		"other claims' signature": {parts[0] + "." + strings.Split(text(claimsWith(`,"name":"Eve"`)), ".")[1] + "." + parts[2], "HS256"},
		"padded":                  {text(good) + "=", "HS256"},
		"empty":                   {"", "HS256"},
		"dots":                    {strings.Repeat(".", 4000), "HS256"},
	} {
		person, err := identity.Verify(c.token, testAppID, []string{testSecret, oldSecret}, testNow)
		switch {
		case c.want == "":
			if err != nil || person.Key() == "" || !person.Verified || *person.ExternalID == "" {
				t.Errorf("%s: %+v, %v", name, person, err)
			}
		case c.want == "widget.identity_expired":
			if !errors.Is(err, feedback.ErrIdentityExpired) {
				t.Errorf("%s: %v", name, err)
			}
		case !errors.Is(err, feedback.ErrInvalidIdentityToken) || !strings.Contains(err.Error(), c.want) || person != (feedback.Person{}):
			t.Errorf("%s: %+v, %v", name, person, err)
		}
	}
	twoLines := text(claimsWith(`,"name":" \u202eAda\nL. "`))
	if person, err := identity.Verify(twoLines, testAppID, []string{testSecret}, testNow); err != nil || *person.Name != "Ada L." {
		t.Errorf("a name of two lines: %+v, %v", person, err)
	}
	if person, err := identity.Verify(signedToken(t, "", good), testAppID, nil, testNow); err == nil {
		t.Errorf("without a secret: %+v", person)
	}
}

// TestIdentityWithoutSecret: an app without a secret accepts no tokens.
func TestIdentityWithoutSecret(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	for _, secret := range []string{"", s.names["key"], "x"} {
		body := fmt.Sprintf(`{"title":"T","description":"","identity_token":%q}`, signedToken(t, secret, `{"sub":"42","exp":9999999999}`))
		if got := s.call("widget-submit-request", "key", body); got.code(t) != "widget.invalid_identity_token" ||
			got.status != http.StatusUnauthorized {
			t.Errorf("%q: %d %s", secret, got.status, got.body)
		}
	}
}

// TestIdentityOfSubmission: the token determines the submitter, not the page. A repeated
// submission is answered even if the token is no longer valid.
func TestIdentityOfSubmission(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		secret := s.must("apps-identity-secret", "owner", s.filled(`{"id":"{app}"}`))["secret"].(string)
		other := s.must("apps-create", "owner", `{"name":"Other"}`)["app"].(map[string]any)["id"].(string)
		foreign := s.must("apps-identity-secret", "owner", `{"id":"`+other+`"}`)["secret"].(string)
		exp := s.clock.Now().Add(time.Minute).Unix()
		submit := func(key, title, token string) answer {
			return s.call("widget-submit-request", "key", fmt.Sprintf(
				`{"title":%q,"description":"","email":"page@example.com","name":"Page","external_id":"7",`+
					`"idempotency_key":%q,"identity_token":%q}`, title, key, token))
		}
		claims := fmt.Sprintf(`{"sub":"42","email":"ada@example.com","exp":%d}`, exp)
		first := submit("a", "T", signedToken(t, secret, claims))
		if first.status != http.StatusOK {
			t.Fatalf("%d %s", first.status, first.body)
		}
		id := requestIDText.FindString(string(first.body))
		submitter := s.must("requests-get", "owner", `{"id":"`+id+`"}`)["request"].(map[string]any)["submitter"].(map[string]any)
		want := map[string]any{"email": "ada@example.com", "name": nil, "external_id": "42", "verified": true}
		if fmt.Sprint(submitter) != fmt.Sprint(want) {
			t.Errorf("submitted by %v", submitter)
		}
		if got := submit("b", "T", signedToken(t, foreign, claims)); got.code(t) != "widget.invalid_identity_token" {
			t.Errorf("another app's token: %s", got.body)
		}
		s.clock.Move(2 * time.Minute)
		refreshed := signedToken(t, secret, fmt.Sprintf(`{"sub":"42","email":"ada@example.com","exp":%d}`, exp+4000))
		for name, token := range map[string]string{
			"expired": signedToken(t, secret, claims), "refreshed": refreshed, "junk": "x", "none": "",
		} {
			if got := submit("a", "T", token); !bytes.Equal(got.body, first.body) {
				t.Errorf("repeated, %s: %s", name, got.body)
			}
			if got := submit("a", "T2", token); got.code(t) != "widget.idempotency_mismatch" {
				t.Errorf("other content, %s: %s", name, got.body)
			}
		}
		expired := submit("c", "T", signedToken(t, secret, claims))
		if expired.code(t) != "widget.identity_expired" || expired.status != http.StatusUnauthorized {
			t.Errorf("expired: %d %s", expired.status, expired.body)
		}
		if got := submit("c", "T", strings.Repeat("x", identity.MaxToken+1)); got.code(t) != "widget.invalid_identity_token" {
			t.Errorf("too long: %s", got.body)
		}

		// If an e-mail is required, the token must contain it.
		s.must("apps-update-settings", "owner", s.filled(`{"id":"{app}","settings":{"widget":{"require_email":true}}}`))
		exp = s.clock.Now().Add(time.Minute).Unix()
		if got := submit("d", "T", signedToken(t, secret, fmt.Sprintf(`{"sub":"42","exp":%d}`, exp))); got.code(t) != "widget.invalid_email" {
			t.Errorf("without an e-mail: %s", got.body)
		}
		body := fmt.Sprintf(`{"title":"T","description":"","identity_token":%q}`,
			signedToken(t, secret, fmt.Sprintf(`{"sub":"42","email":"ada@example.com","exp":%d}`, exp)))
		if got := s.call("widget-submit-request", "key", body); got.status != http.StatusOK {
			t.Errorf("with an e-mail: %s", got.body)
		}
	})
}

// TestIdentityOfVote: a verified person has one vote from all browsers. It is separate from
// the votes of browsers and of unverified people with the same e-mail or id.
func TestIdentityOfVote(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		s.must("apps-update-settings", "owner", s.filled(`{"id":"{app}","settings":{"sharing":"all"}}`))
		secret := s.must("apps-identity-secret", "owner", s.filled(`{"id":"{app}"}`))["secret"].(string)
		token := func(sub string, d time.Duration) string {
			return signedToken(t, secret, fmt.Sprintf(`{"sub":%q,"email":"ada@example.com","exp":%d}`, sub, s.clock.Now().Add(d).Unix()))
		}
		sent := s.must("widget-submit-request", "key", `{"title":"T","description":"","identity_token":"`+token("42", time.Minute)+`"}`)
		id := sent["request"].(map[string]any)["id"].(string)
		vote := func(more string) answer {
			return s.call("widget-vote", "key", fmt.Sprintf(`{"request_id":%q%s}`, id, more))
		}
		browser := func(n int) string { return fmt.Sprintf(`,"voter":"%s%02x"`, voter, n) }
		by := func(sub string) string { return `,"identity_token":"` + token(sub, time.Minute) + `"` }
		for i, c := range []struct {
			more  string
			votes int
		}{
			{by("42"), 1}, // the submitter
			{by("42") + browser(1), 1},
			{by("43") + browser(1), 2}, // another person in the same browser
			{by("43") + browser(2), 2},
			{browser(1), 3},
			{by("43") + `,"remove":true` + browser(1), 2},
			{by("44"), 3},
		} {
			if got := vote(c.more); !strings.Contains(string(got.body), fmt.Sprintf(`"votes":%d,`, c.votes)) &&
				!strings.Contains(string(got.body), fmt.Sprintf(`"votes":%d}`, c.votes)) {
				t.Errorf("vote %d: %s, want %d", i, got.body, c.votes)
			}
		}
		for i, person := range []string{`"email":"ada@example.com"`, `"external_id":"44"`} {
			votes := s.must("votes-add", "owner", fmt.Sprintf(`{"request_id":%q,%s}`, id, person))["votes"]
			if votes != float64(4+i) {
				t.Errorf("staff for %s: %v", person, votes)
			}
		}
		for more, want := range map[string]string{
			"": "widget.invalid_voter", `,"identity_token":"x"` + browser(1): "widget.invalid_identity_token",
			`,"identity_token":"` + token("42", -time.Minute) + `"` + browser(1): "widget.identity_expired",
		} {
			if got := vote(more); got.code(t) != want {
				t.Errorf("%q: %s, want %s", more, got.body, want)
			}
		}
	})
}

// TestRotation: the previous secret stays valid for 24 hours, and there is only one.
func TestRotation(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		var secrets []string
		account, app := testID(t, s.names["account"]), testID(t, s.names["app"])
		ask := func(rotate bool) { // the users' tokens expire earlier than the secret
			secret, err := s.store.MakeIdentitySecret(t.Context(), account, app, feedback.Command(), rotate)
			if err != nil {
				t.Fatal(err)
			}
			secrets = append(secrets, secret.Secret)
		}
		good := func() (good string) {
			for _, secret := range secrets {
				token := signedToken(t, secret, fmt.Sprintf(`{"sub":"42","exp":%d}`, s.clock.Now().Add(time.Minute).Unix()))
				got := s.call("widget-submit-request", "key", fmt.Sprintf(`{"title":"T","description":"","identity_token":%q}`, token))
				good += map[bool]string{true: "+", false: "-"}[got.status == http.StatusOK]
			}
			return good
		}
		check := func(want string) {
			t.Helper()
			if got := good(); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
		ask(false)
		ask(false)
		if secrets[0] != secrets[1] {
			t.Fatal("asked for twice, it is another one")
		}
		secrets = secrets[1:]
		ask(true)
		check("++")
		s.clock.Move(24*time.Hour - time.Millisecond)
		check("++")
		s.clock.Move(time.Millisecond)
		check("-+")
		ask(true)
		check("-++")
		ask(true)
		check("--++")
	})
}

// FuzzIdentity: a token that is not signed with a secret is refused. The claims of a signed
// token are refused or describe a person who can be stored.
func FuzzIdentity(f *testing.F) {
	for _, claims := range []string{
		claimsWith(""), claimsWith(`,"aud":["x"],"nbf":1e300,"iat":-1`), `{"sub":"42","exp":1e308}`, `{"sub":"\ud800","exp":9999999999}`,
		`{"sub":"42","email":"ada@example.com","name":" Ada ","exp":9999999999}`, `{"sub":["42"],"exp":{}}`, `null`, `[]`, ``, `{"exp":-0}`,
	} {
		f.Add(byHand(f, testSecret, `{"alg":"HS256"}`, claims), claims)
		f.Add(byHand(f, "x", `{"alg":"none"}`, claims)[:20], claims)
	}
	f.Fuzz(func(t *testing.T, token, claims string) {
		if _, err := identity.Verify(token, testAppID, []string{oldSecret}, testNow); err == nil {
			t.Errorf("%q is taken", token)
		}
		person, err := identity.Verify(byHand(t, testSecret, `{"alg":"HS256"}`, claims), testAppID, []string{testSecret}, testNow)
		if err != nil {
			if !errors.Is(err, feedback.ErrInvalidIdentityToken) && !errors.Is(err, feedback.ErrIdentityExpired) || person != (feedback.Person{}) {
				t.Errorf("%s: %+v, %#v", claims, person, err)
			}
			return
		}
		if !person.Verified || person.ExternalID == nil || !strings.HasPrefix(person.Key(), "v:") {
			t.Errorf("%s: %+v", claims, person)
		}
		for _, value := range []*string{person.ExternalID, person.Email, person.Name} {
			if value != nil && (*value == "" || strings.ContainsRune(*value, 0) || strings.TrimSpace(*value) != *value ||
				!json.Valid([]byte(claims)) || len(*value) > 4*254) {
				t.Errorf("%s: %q", claims, *value)
			}
		}
	})
}

func testID(t testing.TB, text string) feedback.ID {
	t.Helper()
	id, err := feedback.ParseID(text)
	if err != nil {
		t.Fatal(err)
	}
	return id
}
