package store

import (
	"context"

	"gatherkit/internal/feedback"
	"gatherkit/internal/quota"
)

// UsedQuota is a quota of an account with what the account uses of it.
type UsedQuota struct {
	Name quota.Name `json:"name" enum:"requests,files,members,apps,webhooks,mails,verified" doc:"requests: that people outside sent this month. files: bytes of their files. members: users of the account, with invited ones. mails: written today to people outside. verified: people who got mail today for the first time without confirming, because an identity token verified them. Months and days are in UTC."`
	Used int64      `json:"used"`
	Most *int64     `json:"most" doc:"How much can be used; null if there is no limit. It can be below used, if it was lowered."`
	// Own says that the operator has set the quota for this account.
	Own bool `json:"-"`
}

// Near reports whether 80 % of the quota are used, when owners and admins are told.
func (q UsedQuota) Near() bool {
	return q.Most != nil && q.Used > 0 && float64(q.Used) >= 0.8*float64(*q.Most)
}

// UsedQuotas returns all quotas of an account with what it uses of them.
func (s *Store) UsedQuotas(ctx context.Context, accountID feedback.ID) ([]UsedQuota, error) {
	limits, own, err := s.Quotas.All(ctx, accountID)
	if err != nil {
		return nil, err
	}
	month, _ := quota.Month(s.now())
	today, err := s.Mail.Today(ctx, accountID)
	if err != nil {
		return nil, err
	}
	submitted, err := s.Usage.Submitted(ctx, s.db.Reader(), []feedback.ID{accountID}, month)
	if err != nil {
		return nil, err
	}
	count := map[quota.Name]func() (int64, error){
		quota.Requests: func() (int64, error) { return submitted[accountID], nil },
		quota.Files:    func() (int64, error) { return s.Uploads.Stored(ctx, accountID) },
		quota.Members:  func() (int64, error) { return s.Team.Count(ctx, accountID) },
		quota.Apps:     func() (int64, error) { return s.CountApps(ctx, accountID) },
		quota.Webhooks: func() (int64, error) { return s.Webhooks.Count(ctx, accountID) },
		quota.Mails:    func() (int64, error) { return today.Mails, nil },
		quota.Verified: func() (int64, error) { return today.Verified, nil },
	}
	var used []UsedQuota
	for _, name := range quota.Names() {
		n, err := count[name]()
		if err != nil {
			return nil, err
		}
		one := UsedQuota{Name: name, Used: n, Own: own[name]}
		if most := limits[name]; most != quota.None {
			one.Most = &most
		}
		used = append(used, one)
	}
	return used, nil
}
