package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"gatherkit/internal/params"
	"gatherkit/internal/store/storetest"
)

// maxCost is the maximum processor time of a call with any body.
const maxCost = 100 * time.Millisecond

// TestCost calls every operation with hostile bodies that are made from its schema, up to the
// maximum size. It measures processor time, which does not depend on the load of the machine,
// and repeats slow calls, because garbage of earlier calls may have slowed them down.
func TestCost(t *testing.T) {
	storetest.Measures(t)
	s := newService(t, storetest.SQLite(t))
	s.names["request"], s.names["other_request"] = s.submit("T"), s.submit("U")
	calls := 0
	for _, o := range s.api.order {
		worst, which := time.Duration(0), ""
		bodies := s.hostileBodies(o)
		for _, name := range slices.Sorted(maps.Keys(bodies)) {
			call := func() {
				got := s.call(o.name, credentialsOf(o), bodies[name])
				shut := got.status == http.StatusUnauthorized && strings.HasPrefix(got.code(t), "auth.")
				if got.status >= 500 || shut && o.guard != guardPublic {
					t.Errorf("%s, %s: %d %s", o.name, name, got.status, got.body)
				}
			}
			took := cost(call)
			for range 4 {
				if took > maxCost {
					took = min(took, cost(call))
				}
			}
			if took > maxCost {
				t.Errorf("%s, %s: %s of processor time for %d bytes", o.name, name, took, len(bodies[name]))
			}
			calls++
			if took > worst {
				worst, which = took, name
			}
		}
		t.Logf("%s: at most %s, %s", o.name, worst, which)
	}
	t.Logf("%d calls", calls)
}

// TestBodiesAreBounded: the values that a schema accepts have a maximum size, and the schema
// uses only what bodyDecoder and positions support.
func TestBodiesAreBounded(t *testing.T) {
	for name, o := range decoders() {
		for _, at := range positions(o.params, o.params.Schema, nil) {
			path := name + " " + strings.Join(at.path, ".")
			for _, schema := range append([]*huma.Schema{at.schema}, at.schema.OneOf...) {
				schema = o.params.Resolve(schema)
				switch {
				case len(schema.AnyOf)+len(schema.AllOf) > 0 || schema.Not != nil:
					t.Errorf("%s: bodyDecoder does not support anyOf, allOf and not", path)
				case schema.UniqueItems:
					t.Errorf("%s: only parameters can be lists of unique items", path)
				case schema.Type == huma.TypeArray && schema.MaxItems == nil:
					t.Errorf("%s: a list needs maxItems", path)
				case schema.Type == huma.TypeArray && schema.Items.Type != huma.TypeString:
					t.Errorf("%s: positions does not support lists of objects or lists", path)
				case params.IsFreeForm(schema) && (len(at.path) > 1 || !o.params.Verbatim[at.path[0]]):
					t.Errorf("%s: only verbatim parameters can be objects with any members", path)
				}
			}
		}
	}
}

// cost returns the processor time that the process uses during a call. Nothing else may run.
func cost(call func()) time.Duration {
	before := storetest.ProcessorTime()
	call()
	return storetest.ProcessorTime() - before
}

// hostileBodies returns hostile bodies for an operation, by name.
func (s *service) hostileBodies(o *op) map[string]string {
	bodies := map[string]string{}
	var good map[string]json.RawMessage
	text := strings.NewReplacer(
		"{session}", nobodysID, "{user}", nobodysID, "{comment}", nobodysID, "{link}", nobodysID,
		"{view}", nobodysID, "{template}", nobodysID, "{mention}", nobodysID, "{spam}", nobodysID,
		"{held}", nobodysID, "{remark}", nobodysID,
		"{invite}", "junk", "{setup}", "junk",
	).Replace(s.filled(sample(s.t, o.name)))
	if err := json.Unmarshal([]byte(text), &good); err != nil {
		s.t.Fatal(err)
	}
	// with returns the sample with another value at a path.
	with := func(path []string, value string) string {
		for _, key := range slices.Backward(path[1:]) {
			value = fmt.Sprintf(`{%q:%s}`, key, value)
		}
		var members []string
		for _, key := range slices.Sorted(maps.Keys(good)) {
			if key != path[0] {
				members = append(members, fmt.Sprintf("%q:%s", key, good[key]))
			}
		}
		return "{" + strings.Join(append(members, fmt.Sprintf("%q:%s", path[0], value)), ",") + "}"
	}
	known := append(slices.Clone(o.params.Names), "a")[0]
	for name, body := range hostileObjects(known) {
		bodies["alone: "+name] = body
		if len(good) > 0 {
			body = "," + strings.TrimPrefix(body, "{")
		}
		bodies["beside the parameters: "+name] = strings.TrimSuffix(text, "}") + strings.TrimPrefix(body, "{")
	}
	for name, value := range hostileValues() {
		bodies["no object: "+name] = value
	}
	for _, at := range positions(o.params, o.params.Schema, nil) {
		values := maps.Clone(hostileValues())
		maps.Copy(values, hostileObjects(at.known))
		if o.params.Area != "auth" { // hashing passwords is costly on purpose
			maps.Copy(values, longest(at.schema))
		}
		for name, value := range values {
			bodies[strings.Join(at.path, ".")+": "+name] = with(at.path, value)
		}
	}
	if o.name == "requests-list" {
		good["sort"] = json.RawMessage(`"relevance"`)
		for name, value := range longest(o.params.Schema.Properties["query"]) {
			bodies["query by relevance: "+name] = with([]string{"query"}, value)
		}
	}
	return bodies
}

// position is a place in an operation's parameters.
type position struct {
	path   []string
	schema *huma.Schema
	known  string // a key that an object there may have
}

func positions(p *params.Params, schema *huma.Schema, path []string) []position {
	var list []position
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		property := p.Resolve(schema.Properties[name])
		at := position{path: append(slices.Clone(path), name), schema: property, known: "a"}
		if keys := slices.Sorted(maps.Keys(property.Properties)); len(keys) > 0 {
			at.known = keys[0]
		}
		list = append(list, at)
		list = append(list, positions(p, property, at.path)...)
	}
	return list
}
