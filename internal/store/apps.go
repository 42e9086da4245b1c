package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"gatherkit/internal/changelog"
	"gatherkit/internal/database"
	"gatherkit/internal/entries"
	"gatherkit/internal/feedback"
	"gatherkit/internal/quota"
	"gatherkit/internal/tokens"
	"gatherkit/internal/visitors"
	"gatherkit/internal/webhook"
)

const (
	savedColumns = "account_id, id, name, api_key, settings, version, created_at, updated_at"
	// appColumns are the columns of an app of the account $1.
	appColumns = savedColumns + ", EXISTS (SELECT 1 FROM accounts WHERE account_id = $1 AND suspended_at IS NOT NULL)"
)

// App returns an app of the account. It returns ErrAppNotFound if there is none.
func (s *Store) App(ctx context.Context, accountID, id feedback.ID) (feedback.App, error) {
	return readApp(ctx, s.db.Reader(), accountID, id)
}

// AppByKey returns the app of an API key. It returns ErrInvalidAPIKey if there is none, and ErrSuspended. It does not cache, so an old
// key is invalid as soon as it is regenerated. Calls that arrive during a lookup share the next one, or only those with
// the same key if accounts are on several machines.
func (s *Store) AppByKey(ctx context.Context, key string) (feedback.App, error) {
	if !feedback.ValidAPIKey(key) {
		return feedback.App{}, feedback.ErrInvalidAPIKey
	}
	lane := ""
	if s.db.Distributed() {
		lane = key
	}
	app, err := s.keys.Do(ctx, lane, key)
	switch {
	case err != nil:
		return feedback.App{}, err
	case app == nil:
		return feedback.App{}, feedback.ErrInvalidAPIKey
	case app.Suspended:
		return feedback.App{}, feedback.ErrSuspended
	}
	return *app, nil
}

// appsByKey looks up the keys of a group of calls. The app of an invalid key is nil.
func (s *Store) appsByKey(ctx context.Context, _ string, keys []string) ([]*feedback.App, error) {
	found, err := appsOfKeys(ctx, s.db.Reader(), keys)
	if err != nil || len(found) == 0 {
		return make([]*feedback.App, len(keys)), err
	}
	ids := slices.SortedFunc(maps.Values(found), func(a, b keyedApp) int {
		return cmp.Or(a.accountID.Compare(b.accountID), a.appID.Compare(b.appID))
	})
	p := database.Parameters{}
	conditions := make([]string, 0, len(ids))
	for _, id := range database.Padded(ids) {
		conditions = append(conditions, "a.account_id = "+p.Add(id.accountID)+" AND a.id = "+p.Add(id.appID))
	}
	apps, err := database.All(ctx, s.db.Reader(), scanApp, "SELECT a.account_id, a.id, a.name, a.api_key, a.settings, a.version,"+
		" a.created_at, a.updated_at, c.suspended_at IS NOT NULL FROM apps a JOIN accounts c ON c.account_id = a.account_id"+
		" WHERE a.deleted_at IS NULL AND ("+strings.Join(conditions, " OR ")+")", p...)
	if err != nil {
		return nil, err
	}
	byKey := make(map[string]*feedback.App, len(apps))
	for i := range apps {
		byKey[apps[i].APIKey] = &apps[i]
	}
	results := make([]*feedback.App, len(keys))
	for i, key := range keys {
		results[i] = byKey[key]
	}
	return results, nil
}

// Apps returns a page of up to limit apps of the account, oldest first, that follow the id
// after.
func (s *Store) Apps(ctx context.Context, accountID, after feedback.ID, limit int) ([]feedback.App, error) {
	return database.All(ctx, s.db.Reader(), scanApp, "SELECT "+appColumns+` FROM apps
		WHERE account_id = $1 AND deleted_at IS NULL AND id > $2 ORDER BY id LIMIT $3`, accountID, after, limit)
}

// CountApps returns how many apps an account has.
func (s *Store) CountApps(ctx context.Context, accountID feedback.ID) (int64, error) {
	return countApps(ctx, s.db.Reader(), accountID)
}

func countApps(ctx context.Context, q database.Queryer, accountID feedback.ID) (n int64, err error) {
	err = q.QueryRowContext(ctx, "SELECT COUNT(*) FROM apps WHERE account_id = $1 AND deleted_at IS NULL", accountID).Scan(&n)
	return n, err
}

// AddApp creates an app with a new API key. It returns ErrTooManyApps if the account's quota does not allow it.
func (s *Store) AddApp(ctx context.Context, accountID feedback.ID, name string, by feedback.Actor) (app feedback.App, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if app, err = s.addApp(ctx, tx, accountID, name, by); err != nil {
			return err
		}
		// The log of changes is locked until the end, so that the number of apps is exact.
		n, err := countApps(ctx, tx, accountID)
		if err != nil {
			return err
		}
		return s.Quotas.Check(ctx, tx, accountID, quota.Apps, n, feedback.ErrTooManyApps)
	})
	return app, err
}

func (s *Store) addApp(ctx context.Context, tx *sql.Tx, accountID feedback.ID, name string, by feedback.Actor) (feedback.App, error) {
	app := feedback.NewApp(s.ids.New(), accountID, name, feedback.NewAPIKey(s.rand), s.now())
	settings, err := json.Marshal(app.Settings)
	if err != nil {
		return app, err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO apps ("+savedColumns+") VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
		accountID, app.ID, app.Name, app.APIKey, string(settings), app.Version, app.CreatedAt, app.UpdatedAt)
	if err != nil {
		return app, err
	}
	if err := addKey(ctx, tx, app); err != nil {
		return app, err
	}
	if err := s.lock(ctx, tx, accountID, app.ID); err != nil { // inserts the gate
		return app, err
	}
	return app, changelog.Record(ctx, tx, accountID, app.CreatedAt, feedback.Change{
		Kind: feedback.AppCreated, Actor: by, AppID: &app.ID, After: map[string]any{"name": name},
	})
}

// ChangeApp reads an app, calls change to modify it, and saves the differences. It returns
// ErrAppNotFound if the app does not exist, the error of change, or ErrSlugTaken or ErrHostTaken.
func (s *Store) ChangeApp(
	ctx context.Context, accountID, id feedback.ID, by feedback.Actor, change func(*feedback.App) error,
) (feedback.App, error) {
	var app feedback.App
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		if app, err = s.lockApp(ctx, tx, accountID, id); err != nil {
			return err
		}
		old := app
		if err := change(&app); err != nil {
			return err
		}
		before, after := feedback.Diff(old.Logged(), app.Logged())
		if len(after) == 0 {
			return nil
		}
		kind := feedback.AppUpdated
		if app.APIKey != old.APIKey {
			kind = feedback.AppKeyRegenerated
			before["api_key"], after["api_key"] = feedback.MaskKey(old.APIKey), feedback.MaskKey(app.APIKey)
			if err := replaceKey(ctx, tx, old, app); err != nil {
				return err
			}
		}
		if err := visitors.Move(ctx, tx, old, app); err != nil {
			return err
		}
		app.Version++
		app.UpdatedAt = feedback.At(s.now())
		if err := saveApp(ctx, tx, app, old.Version); err != nil {
			return err
		}
		return changelog.Record(ctx, tx, accountID, app.UpdatedAt, feedback.Change{
			Kind: kind, Actor: by, AppID: &app.ID, Before: before, After: after,
		})
	})
	return app, err
}

// NewAPIKey returns a random API key.
func (s *Store) NewAPIKey() string { return feedback.NewAPIKey(s.rand) }

// DeleteApp hides an app, revokes its key and deletes its counters. The worker deletes its
// requests later. DeleteApp returns ErrAppNotFound if the app does not exist.
func (s *Store) DeleteApp(ctx context.Context, accountID, id feedback.ID, by feedback.Actor) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		app, err := s.lockApp(ctx, tx, accountID, id)
		if err != nil {
			return err
		}
		now := feedback.At(s.now())
		n, err := database.Changed(ctx, tx, "UPDATE apps SET deleted_at = $3, version = version + 1"+
			" WHERE account_id = $1 AND id = $2 AND version = $4",
			accountID, id, now, app.Version)
		if err != nil {
			return err
		}
		if n == 0 {
			return errGateNotLocked
		}
		if err := removeKey(ctx, tx, app); err != nil {
			return err
		}
		if err := visitors.RemoveApp(ctx, tx, app); err != nil {
			return err
		}
		if err := tokens.RemoveApp(ctx, tx, accountID, id); err != nil {
			return err
		}
		if err := webhook.RemoveApp(ctx, tx, accountID, id); err != nil {
			return err
		}
		if err := entries.RemoveApp(ctx, tx, accountID, id); err != nil {
			return err
		}
		for _, table := range []string{"request_counts", "held_comments"} {
			if _, err := tx.ExecContext(ctx, "DELETE FROM "+table+" WHERE account_id = $1 AND app_id = $2", accountID, id); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO purges (account_id, app_id, deleted_at) VALUES ($1, $2, $3)", accountID, id, now)
		if err != nil {
			return err
		}
		return changelog.Record(ctx, tx, accountID, now, feedback.Change{
			Kind: feedback.AppDeleted, Actor: by, AppID: &id, Before: map[string]any{"name": app.Name},
		})
	})
}

// lockApp locks an app's gate and returns the app, or ErrAppNotFound.
func (s *Store) lockApp(ctx context.Context, tx *sql.Tx, accountID, id feedback.ID) (feedback.App, error) {
	if err := s.lock(ctx, tx, accountID, id); err != nil {
		return feedback.App{}, err
	}
	return readApp(ctx, tx, accountID, id)
}

func readApp(ctx context.Context, q database.Queryer, accountID, id feedback.ID) (feedback.App, error) {
	app, err := scanApp(q.QueryRowContext(ctx, "SELECT "+appColumns+" FROM apps"+
		" WHERE account_id = $1 AND id = $2 AND deleted_at IS NULL", accountID, id))
	return app, database.OrNotFound(err, feedback.ErrAppNotFound)
}

// saveApp saves an app. The caller has read it with the given version after it locked the
// gate.
func saveApp(ctx context.Context, tx *sql.Tx, app feedback.App, version int64) error {
	settings, err := json.Marshal(app.Settings)
	if err != nil {
		return err
	}
	n, err := database.Changed(ctx, tx, `UPDATE apps SET name = $3, api_key = $4, settings = $5, version = $6, updated_at = $7
		WHERE account_id = $1 AND id = $2 AND version = $8 AND deleted_at IS NULL`,
		app.AccountID, app.ID, app.Name, app.APIKey, string(settings), app.Version, app.UpdatedAt, version)
	if err == nil && n == 0 {
		return errGateNotLocked
	}
	return err
}

// replaceKey revokes the key of old and stores the key of app. The caller holds the app's
// gate, so a submission with the old key either has committed or will fail.
func replaceKey(ctx context.Context, tx *sql.Tx, old, app feedback.App) error {
	if err := removeKey(ctx, tx, old); err != nil {
		return err
	}
	return addKey(ctx, tx, app)
}

func addKey(ctx context.Context, tx *sql.Tx, app feedback.App) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO api_keys (key_hash, account_id, app_id) VALUES ($1, $2, $3)",
		feedback.HashSecret(app.APIKey), app.AccountID, app.ID)
	return err
}

// keyedApp is the app of an API key.
type keyedApp struct{ accountID, appID feedback.ID }

// appsOfKeys returns the apps of API keys. Behind the gates of the apps, which stand before every change of a key, the
// result stays valid until the transaction ends.
func appsOfKeys(ctx context.Context, q database.Queryer, keys []string) (map[string]keyedApp, error) {
	byHash, p := map[feedback.Hash]string{}, database.Parameters{}
	for _, key := range keys {
		byHash[feedback.HashSecret(key)] = key
	}
	hashes := slices.Collect(maps.Keys(byHash))
	apps := make(map[string]keyedApp, len(keys))
	err := database.Each(ctx, q, func(r database.Row) error {
		var hash []byte
		var app keyedApp
		if err := r.Scan(&hash, &app.accountID, &app.appID); err != nil {
			return err
		}
		apps[byHash[feedback.Hash(hash)]] = app
		return nil
	}, "SELECT key_hash, account_id, app_id FROM api_keys WHERE key_hash IN ("+database.List(&p, database.Padded(hashes))+")", p...)
	return apps, err
}

func removeKey(ctx context.Context, tx *sql.Tx, app feedback.App) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM api_keys WHERE key_hash = $1", feedback.HashSecret(app.APIKey))
	return err
}

func scanApp(r database.Row) (feedback.App, error) {
	app := feedback.App{Settings: feedback.DefaultSettings()} // for settings that are newer than the row
	var settings []byte
	err := r.Scan(&app.AccountID, &app.ID, &app.Name, &app.APIKey, &settings, &app.Version, &app.CreatedAt, &app.UpdatedAt, &app.Suspended)
	if err != nil {
		return app, err
	}
	return app, json.Unmarshal(settings, &app.Settings)
}
