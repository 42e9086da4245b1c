package api

import (
	"context"
	"time"

	"gatherkit/internal/events"
	"gatherkit/internal/fair"
	"gatherkit/internal/feedback"
	"gatherkit/internal/limits"
)

const (
	defaultEvents, maxEvents = 100, 1_000
	// pageOfEvents is about how much memory a page of events takes at most.
	pageOfEvents = 8 << 20
	// So many calls of an account and of a session may wait for changes in this process.
	maxWaitsOfAccount, maxWaitsOfSession = events.MaxWaiting / 4, 8
	// withoutPlace is how long a call beyond these numbers pauses before it is answered, so that a program that calls
	// again at once costs little.
	withoutPlace = 2 * time.Second
)

type eventsListParams struct {
	After *int64       `json:"after,omitempty" minimum:"0" doc:"The last number that you handled: the position of the previous page. By default, the end of the log."`
	Limit *int         `json:"limit,omitempty" minimum:"1" doc:"Page size: 100 by default, at most 1,000."`
	Kinds []string     `json:"kinds,omitempty" minItems:"1" maxItems:"50" doc:"Only these: a kind such as vote.added, all of an area such as request.*, or changes of a field such as request.updated:status."`
	AppID *feedback.ID `json:"app_id,omitempty" format:"uuid" doc:"Only events of this app."`
	Wait  int          `json:"wait,omitempty" minimum:"0" maximum:"10" doc:"If there are no events yet, wait up to this many seconds for one."`
}

type eventsListResult struct {
	Events   []events.FeedEvent `json:"events" doc:"In the order of their numbers."`
	Position int64              `json:"position" doc:"Send it as after in the next call. Everything up to it was read, also what the filter left out."`
	Last     int64              `json:"last" doc:"The last number of the log."`
	More     bool               `json:"more" doc:"Whether position is before last. A page can be empty, although there is more."`
	Erased   []events.Range     `json:"erased" doc:"The numbers up to position that no longer exist, because their request was removed for good."`
}

func (a *API) eventsList(ctx context.Context, c caller, in eventsListParams) (eventsListResult, error) {
	fits, err := in.filter(c.Role)
	if err != nil {
		return eventsListResult{}, err
	}
	if in.AppID != nil {
		if _, err := a.Store.App(ctx, c.Account.ID, *in.AppID); err != nil {
			return eventsListResult{}, err
		}
	}
	after, limit := int64(0), defaultEvents
	if in.Limit != nil {
		limit = min(*in.Limit, maxEvents)
	}
	if in.After != nil {
		after = *in.After
	} else if after, err = a.Store.Events.Last(ctx, c.Account.ID); err != nil {
		return eventsListResult{}, err
	}
	until := time.Now().Add(time.Duration(in.Wait) * time.Second)
	for {
		page, err := a.readEvents(ctx, c, after, limit, fits)
		if err != nil {
			return eventsListResult{}, err
		}
		left := time.Until(until)
		result := eventsListResult{page.Events, page.Position, page.Last, page.Position < page.Last, page.Erased}
		if len(page.Events) > 0 || len(page.Erased) > 0 || result.More || left <= 0 {
			return result, nil
		}
		if waited, err := a.waitForEvents(ctx, c, page.Position, left); err != nil || !waited {
			return result, err
		}
		after = page.Position
	}
}

// readEvents holds the memory for a page only while it reads and answers, and not while it waits.
func (a *API) readEvents(
	ctx context.Context, c caller, after int64, limit int, fits func(events.FeedEvent) bool,
) (events.Page, error) {
	if err := a.holdPage(ctx, c, 1, pageOfEvents); err != nil {
		return events.Page{}, err
	}
	page, err := a.Store.Events.Read(ctx, c.Account.ID, after, limit, fits)
	events.SetURLs(page.Events, a.link)
	if len(page.Events) == 0 {
		c.Memory.Shrink(0)
	}
	return page, err
}

// waitForEvents waits for an entry after a number. It returns false if the call must not wait any longer: there is no
// place, or the service stops.
func (a *API) waitForEvents(ctx context.Context, c caller, after int64, most time.Duration) (waited bool, err error) {
	defer fair.Pause(ctx)()
	defer c.Waits()()
	if place := a.waits.Of(limits.Holder{Account: c.Account.ID, Session: c.ID}); place.TryAcquire(1) {
		defer place.Release(1)
		c.leave() // others at this address need the place
		if waited, err := a.Store.Waiters.Wait(ctx, a.Ending, c.Account.ID, after, most); err != nil || waited {
			return waited, err
		}
	}
	return false, pause(ctx, min(most, withoutPlace), a.Ending)
}

const invalidKinds = "kinds must have kinds of events, such as vote.added, request.* or request.updated:status."

// filter returns a function that reports whether an event fits the parameters. Only admins get those
// about the account, as in audit-list.
func (in eventsListParams) filter(role feedback.Role) (func(events.FeedEvent) bool, error) {
	kinds, ok := events.ParseKinds(in.Kinds)
	if !ok {
		return nil, feedback.Invalid("events", "kinds", invalidKinds)
	}
	return func(e events.FeedEvent) bool {
		if !e.Kind.AboutRequests() && !role.Allows(feedback.RoleAdmin) || in.AppID != nil && (e.AppID == nil || *e.AppID != *in.AppID) {
			return false
		}
		return kinds.Include(e)
	}, nil
}
