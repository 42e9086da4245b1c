package api

import (
	"context"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/usage"
)

// defaultUsageDays is how many days account-usage returns.
const defaultUsageDays = 30

type accountUsageParams struct {
	Days *int `json:"days,omitempty" minimum:"1" maximum:"400" doc:"How many days, with today: 30 by default, at most 400."`
}

type accountUsageResult struct {
	Days   []usage.DayUsage  `json:"days" doc:"Days on which something was used, the latest first. Counts can be 20 seconds late."`
	Quotas []store.UsedQuota `json:"quotas" doc:"What the operator of the service allows the account, and how much of it is used."`
}

func (a *API) accountUsage(ctx context.Context, c caller, in accountUsageParams) (accountUsageResult, error) {
	n := defaultUsageDays
	if in.Days != nil {
		n = *in.Days
	}
	days, err := a.Store.Usage.Days(ctx, c.Account.ID, feedback.DayOf(a.Now())-feedback.Day(n-1))
	if err != nil {
		return accountUsageResult{}, err
	}
	quotas, err := a.Store.UsedQuotas(ctx, c.Account.ID)
	return accountUsageResult{days, quotas}, err
}
