package index

import (
	"context"
	"math"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

func (c *facetCounter) apps(ctx context.Context, into *feedback.Facets) error {
	found, err := c.values(ctx, byApp)
	if err != nil {
		return err
	}
	into.Apps = []feedback.AppFacet{}
	var always []string
	if c.filter.AppID != nil {
		always = append(always, c.filter.AppID.String())
	}
	for _, value := range found.most(math.MaxInt, always...) {
		id, err := feedback.ParseID(value)
		if err != nil {
			return err
		}
		into.Apps = append(into.Apps, feedback.AppFacet{AppID: id, Tally: found.of(value)})
	}
	return nil
}

func (c *facetCounter) statuses(ctx context.Context, into *feedback.Facets) error {
	found, err := c.values(ctx, byStatus)
	for _, status := range feedback.Statuses() {
		into.Statuses = append(into.Statuses, feedback.StatusFacet{Status: status, Tally: found.of(string(status))})
	}
	return err
}

// boxes counts the requests that match in each box. The index has the words of live ones only.
func (c *facetCounter) boxes(ctx context.Context, into *feedback.Facets) error {
	for _, box := range []feedback.Box{feedback.Live, feedback.Quarantine, feedback.Bin} {
		f := c.filter
		f.Box = box
		total := Total{Exact: true}
		switch {
		case f.counted():
			total.N = c.total(f)
		case f.Query == "" || box == feedback.Live:
			within, err := c.scope(ctx, f)
			if err == nil && within.n > 0 {
				total, err = c.countRows(ctx, within, c.end)
			}
			if err != nil {
				return err
			}
		}
		into.Boxes = append(into.Boxes, feedback.BoxFacet{Box: box, Tally: feedback.Tally{Count: total.N, Exact: total.Exact}})
	}
	return nil
}

func (c *facetCounter) assignees(ctx context.Context, into *feedback.Facets) error {
	found, err := c.values(ctx, byAssignee)
	if err != nil {
		return err
	}
	always := []string{feedback.Nobody}
	if c.filter.AssigneeID != nil {
		always = append(always, c.filter.AssigneeID.String())
	}
	for _, value := range found.most(facetAssignees, always...) {
		into.Assignees = append(into.Assignees, feedback.AssigneeFacet{AssigneeID: value, Tally: found.of(value)})
	}
	return nil
}

func (c *facetCounter) sources(ctx context.Context, into *feedback.Facets) error {
	found, err := c.values(ctx, bySource)
	if err != nil {
		return err
	}
	into.Sources = []feedback.SourceFacet{}
	var always []string
	if c.filter.Source != "" {
		always = append(always, c.filter.Source)
	}
	for _, value := range found.most(math.MaxInt, always...) {
		into.Sources = append(into.Sources, feedback.SourceFacet{Source: value, Tally: found.of(value)})
	}
	return nil
}

func (c *facetCounter) tags(ctx context.Context, into *feedback.Facets) error {
	used, exact, err := c.countByTag(ctx)
	if err != nil {
		return err
	}
	into.Tags = []feedback.TagFacet{}
	chosen := false
	add := func(tag feedback.Tag) {
		into.Tags = append(into.Tags, feedback.TagFacet{Tag: tag.Tag, Tally: feedback.Tally{Count: tag.Requests, Exact: exact}})
	}
	for _, tag := range mostUsed(used, facetTags) {
		chosen = chosen || feedback.FoldTag(tag.Tag) == c.filter.Tag
		add(tag)
	}
	if c.filter.Tag == "" || chosen {
		return nil
	}
	tag, found := used[c.filter.Tag]
	if !found {
		tag.Tag = c.filter.Tag
	}
	add(tag)
	return nil
}

// countByTag counts the requests that match the filter without its tag, by tag.
func (c *facetCounter) countByTag(ctx context.Context) (tags map[string]feedback.Tag, exact bool, err error) {
	tags = map[string]feedback.Tag{}
	f := c.filter.without(byTag)
	within, err := c.scope(ctx, f)
	if err != nil || within.n == 0 {
		return tags, true, err
	}
	exact, err = c.inRanges(ctx, within, c.end, func(from, until *feedback.ID) error {
		some, err := c.tagsOf(ctx, within, from, until)
		addTags(tags, some)
		return err
	})
	return tags, exact, err
}

// tagsOf counts by tag the requests that match from one id up to another; nil means no
// bound. The statement has both bounds on tags, as PostgreSQL might read all tags otherwise.
func (c *facetCounter) tagsOf(ctx context.Context, within Scope, from, until *feedback.ID) ([]feedback.Tag, error) {
	first, last := feedback.ID{}, lastID
	if from != nil {
		first = *from
	}
	if until != nil {
		last = *until
	}
	if f := within.filter; f.Box == feedback.Live && f.counted() && len(f.Statuses) == 0 {
		return c.tagsBetween(ctx, &statRange{accountID: c.accountID, appID: f.AppID, dead: within.dead}, first, last)
	}
	rows, _, p := between(within, from, until)
	return database.All(ctx, c.db.Reader(), func(r database.Row) (tag feedback.Tag, err error) {
		err = r.Scan(&tag.Tag, &tag.Requests)
		return tag, err
	}, "SELECT MIN(t.label), COUNT(*) FROM (SELECT id"+rows+") AS picked CROSS JOIN request_tags t"+
		" WHERE t.account_id = $1 AND t.request_id = picked.id AND t.request_id >= "+p.Add(first)+
		" AND t.request_id < "+p.Add(last)+" GROUP BY COALESCE(t.tag, t.tag)", p...)
}

// lastID sorts after every id.
var lastID = feedback.ID{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
