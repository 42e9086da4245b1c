package machine

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// What the model answers to requests-stats.

// bounds returns the beginning and the end of a day, or a given time twice.
func bounds(text string) (begin, end time.Time) {
	if begin, err := time.Parse(time.DateOnly, text); err == nil {
		return begin, begin.AddDate(0, 0, 1)
	}
	at, _ := time.Parse(timeForm, text) // the schema has accepted it
	return at, at
}

func (m *model) requestStats(w who, in, _ object) (string, object) {
	y, month, d := m.now().Date()
	to := time.Date(y, month, d+1, 0, 0, 0, 0, time.UTC)
	if text, sent := in["to"].(string); sent {
		_, to = bounds(text)
	}
	from := to.AddDate(0, 0, -30)
	if text, sent := in["from"].(string); sent {
		from, _ = bounds(text)
	}
	switch appID := in["app_id"]; {
	case !from.Before(to) || to.Sub(from) > 366*24*time.Hour:
		return "requests.invalid_from", nil
	case appID != nil && m.app(w.account, appID) == nil:
		return "apps.not_found", nil
	}
	var counted []*request
	for _, r := range m.requests {
		if r.account == w.account && r.live() && (in["app_id"] == nil || r.app.id == in["app_id"]) &&
			!r.created.Before(from) && r.created.Before(to) {
			counted = append(counted, r)
		}
	}
	byStatus, byDay, byApp := map[any]int{}, map[string]int{}, map[*app]int{}
	for _, r := range counted {
		byStatus[r.status]++
		byDay[r.created.Format(time.DateOnly)]++
		byApp[r.app]++
	}
	counts, days, apps, tags := []object{}, []object{}, []object{}, []object{}
	for _, status := range statuses {
		counts = append(counts, object{"status": status, "requests": byStatus[status]})
	}
	for day := from; day.Before(to); day = day.Truncate(24*time.Hour).AddDate(0, 0, 1) {
		name := day.Format(time.DateOnly)
		days = append(days, object{"day": name, "requests": byDay[name]})
	}
	for _, a := range m.apps {
		if byApp[a] > 0 {
			apps = append(apps, object{"app_id": a.id, "requests": byApp[a]})
		}
	}
	labels := tagsOf(counted)
	for _, folded := range slices.Sorted(maps.Keys(labels)) {
		tags = append(tags, labels[folded])
	}
	for _, list := range [][]object{apps, tags} {
		slices.SortStableFunc(list, func(a, b object) int { return cmp.Compare(b["requests"].(int), a["requests"].(int)) })
	}
	return "ok", object{
		"from": from.Format(timeForm), "to": to.Format(timeForm), "total": len(counted), "exact": true,
		"by_answer": byAnswer(counted), "by_status": counts, "by_day": days, "by_app": apps, "by_tag": tags,
	}
}

// answer records when the account first answered a request.
func (m *model) answer(r *request) {
	if r.answered.IsZero() {
		r.answered = m.now()
	}
}

func byAnswer(requests []*request) []object {
	n := map[string]int{}
	for _, r := range requests {
		took := r.answered.Sub(r.created)
		switch {
		case r.answered.IsZero():
			n["not_yet"]++
		case took < time.Hour:
			n["hour"]++
		case took < 24*time.Hour:
			n["day"]++
		case took < 7*24*time.Hour:
			n["week"]++
		case took < 30*24*time.Hour:
			n["month"]++
		default:
			n["longer"]++
		}
	}
	list := []object{}
	for _, within := range []string{"hour", "day", "week", "month", "longer", "not_yet"} {
		list = append(list, object{"within": within, "requests": n[within]})
	}
	return list
}

// tagsOf returns the tags of requests by their folded form. Of several spellings, it returns the
// first one in byte order.
func tagsOf(requests []*request) map[string]object {
	tags := map[string]object{}
	for _, r := range requests {
		for _, tag := range r.tags {
			label, n := tag.(string), 1
			folded := strings.ToLower(label)
			if others, ok := tags[folded]; ok {
				label, n = min(label, others["tag"].(string)), n+others["requests"].(int)
			}
			tags[folded] = object{"tag": label, "requests": n}
		}
	}
	return tags
}
