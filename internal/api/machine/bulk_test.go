package machine

import (
	"slices"
	"strings"
)

// What the model answers to requests-bulk-update.

func (m *model) bulkUpdate(w who, in, _ object) (string, object) {
	ids, byID := in["ids"].([]any)
	filter, byFilter := in["filter"].(object)
	set := in["set"].(object)
	expected, counted := in["expected_count"].(int)
	switch {
	case byID == byFilter:
		return "requests.invalid_ids", nil
	case byFilter && !counted:
		return "requests.invalid_expected_count", nil
	}
	if unfit(filter) != "" {
		return "requests.invalid_filter", nil
	}
	assignee, _ := set["assignee_id"].(string)
	if assignee != "" && assignee != "none" && !uuidText.MatchString(assignee) {
		return "requests.invalid_set", nil
	}
	var meant []*request
	if byFilter {
		at := place{filter: object{"box": "live"}}
		at.narrow(filter)
		if !m.knows(w, at) {
			return "apps.not_found", nil
		}
		for _, r := range m.requests {
			if r.account == w.account && at.holds(r) {
				meant = append(meant, r)
			}
		}
		if len(meant) != expected {
			return "requests.count_mismatch", nil
		}
	}
	for _, id := range ids {
		r := m.request(w.account, id)
		if r == nil {
			return "requests.not_found", nil
		}
		if !slices.Contains(meant, r) {
			meant = append(meant, r)
		}
	}
	slices.SortFunc(meant, m.older)
	return m.changeMeant(w, meant, set)
}

// changeMeant changes all of the requests or none.
func (m *model) changeMeant(w who, meant []*request, set object) (string, object) {
	assignee, _ := set["assignee_id"].(string)
	for _, r := range meant {
		if r.binned && set["box"] != "live" {
			return "requests.not_found", nil
		}
		if _, sent := set["status"]; sent && r.root != nil {
			return "requests.merged", nil
		}
		if assignee != "" && assignee != "none" && r.assignee != assignee && m.colleague(w, assignee) == nil {
			return "requests.invalid_assignee_id", nil
		}
	}
	updated := 0
	var roots []*request
	for _, r := range meant {
		from, binned, status := r.box(), r.binned, r.status
		different := m.alter(r, func(r *request) {
			if status, sent := set["status"].(string); sent {
				r.status = status
			}
			if hidden, sent := set["hidden"].(bool); sent {
				r.hidden = hidden
			}
			switch assignee {
			case "":
			case "none":
				r.assignee = nil
			default:
				r.assignee = assignee
			}
			r.tags = bulkTags(r.tags, set)
			if box, sent := set["box"].(string); sent {
				r.binned, r.quarantined = box == "bin", false
			}
		})
		if !different {
			continue
		}
		updated++
		m.record(r.account, moved(from, r.box()), w.actor(), w.by(), r.app.id, r.id)
		r.latest().differs("status", status, r.status)
		m.tellStatus(w, r, status)
		if r.binned != binned {
			roots = append(roots, r.root)
		}
	}
	slices.SortFunc(roots, m.older)
	for _, root := range roots {
		m.recountIfChanged(w, root)
	}
	return "ok", object{"updated": updated}
}

// distinct returns tags without those that differ from an earlier one only in case.
func distinct(tags []any) []any { return bulkTags(nil, object{"add_tags": tags}) }

func bulkTags(tags []any, set object) []any {
	has := func(list []any, tag any) bool {
		return slices.ContainsFunc(list, func(t any) bool { return strings.EqualFold(t.(string), tag.(string)) })
	}
	removed, _ := set["remove_tags"].([]any)
	added, _ := set["add_tags"].([]any)
	result := []any{}
	for _, tag := range tags {
		if !has(removed, tag) {
			result = append(result, tag)
		}
	}
	for _, tag := range added {
		if !has(result, tag) {
			result = append(result, tag)
		}
	}
	return result
}
