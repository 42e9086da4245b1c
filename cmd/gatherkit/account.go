package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"gatherkit/internal/blob"
	"gatherkit/internal/config"
	"gatherkit/internal/feedback"
	"gatherkit/internal/quota"
	"gatherkit/internal/store"
	"gatherkit/internal/team"
)

type accountCommand struct {
	List    accountListCommand    `cmd:"" help:"List all accounts and how much they store."`
	Show    accountShowCommand    `cmd:"" help:"Show an account with its users and apps."`
	Create  accountCreateCommand  `cmd:"" help:"Create one account or many, and print links that invite their owners."`
	Rename  accountRenameCommand  `cmd:"" help:"Rename an account."`
	Quota   accountQuotaCommand   `cmd:"" help:"Show how much an account may use and uses, or change that, or list accounts near a quota."`
	Suspend accountSuspendCommand `cmd:"" help:"Turn off the logins, keys, tokens, pages, mail and webhooks of an account. Nothing is deleted."`
	Resume  accountResumeCommand  `cmd:"" help:"Turn a suspended account on again."`
	Export  accountExportCommand  `cmd:"" help:"Write an account to a folder, as an installation with only this account."`
	Restore accountRestoreCommand `cmd:"" help:"Restore an account from a backup, while the service runs."`
	Delete  accountDeleteCommand  `cmd:"" help:"Delete a suspended account with all its data, for good."`
}

// findAccount returns the account with a name or an id.
func (p *program) findAccount(s *store.Store, named string) (feedback.Account, error) {
	account, err := s.Team.Find(p.ctx, strings.TrimSpace(named))
	switch {
	case errors.Is(err, team.ErrNoAccount):
		return account, fmt.Errorf("%w called %q; run gatherkit account list to see all accounts", err, named)
	case errors.Is(err, team.ErrSeveralAccounts):
		return account, fmt.Errorf("several accounts are called %q; name the account by its id, which gatherkit account list shows", named)
	}
	return account, err
}

// withAccount is withExisting for a command about one account.
func (p *program) withAccount(at config.Store, named string, fn func(*store.Store, feedback.Account) error) error {
	return p.withExisting(at, func(s *store.Store) error {
		account, err := p.findAccount(s, named)
		if err != nil {
			return err
		}
		return fn(s, account)
	})
}

// named explains the error of an act that gives an account a name.
func named(err error, name string) error {
	if errors.Is(err, team.ErrAccountExists) {
		return fmt.Errorf("an account is called %q already", name)
	}
	return err
}

type accountListCommand struct {
	config.Store `embed:""`
	Sort         string `help:"Order of the accounts: ${enum}." enum:"created,name,requests,files,calls,seconds,mails,last-change" default:"created"`
	JSON         bool   `name:"json" help:"Print one JSON object per account and line."`
}

// accountOrders are the orders of a list of accounts. The largest and the latest are first.
var accountOrders = map[string]func(a, b store.AccountSize) int{
	"created":     func(a, b store.AccountSize) int { return cmp.Compare(a.CreatedAt, b.CreatedAt) },
	"name":        func(a, b store.AccountSize) int { return cmp.Compare(a.Name, b.Name) },
	"requests":    func(a, b store.AccountSize) int { return cmp.Compare(b.Requests, a.Requests) },
	"files":       func(a, b store.AccountSize) int { return cmp.Compare(b.FileBytes, a.FileBytes) },
	"calls":       func(a, b store.AccountSize) int { return cmp.Compare(b.Calls, a.Calls) },
	"seconds":     func(a, b store.AccountSize) int { return cmp.Compare(b.Seconds, a.Seconds) },
	"mails":       func(a, b store.AccountSize) int { return cmp.Compare(b.Mails, a.Mails) },
	"last-change": func(a, b store.AccountSize) int { return cmp.Compare(b.LastChange, a.LastChange) },
}

// Run lists the accounts.
func (c *accountListCommand) Run(p *program) error {
	return p.withExisting(c.Store, func(s *store.Store) error {
		accounts, err := s.AccountSizes(p.ctx)
		if err != nil {
			return err
		}
		slices.SortStableFunc(accounts, accountOrders[c.Sort])
		if c.JSON {
			return printLines(p, accounts)
		}
		if len(accounts) == 0 {
			p.printf("There are no accounts yet; add one with gatherkit account create.\n")
			return nil
		}
		w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(w, "ID\tUSERS\tAPPS\tREQUESTS\tFILES\tFILES KIB\tCALLS\tSECONDS\tMAILS\tLAST USE\tLAST CHANGE\tNAME")
		for _, a := range accounts {
			suspended := ""
			if a.SuspendedAt != nil {
				suspended = " (suspended)"
			}
			_, _ = fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%.1f\t%d\t%s\t%s\t%s%s\n",
				a.ID, a.Users, a.Apps, a.Requests, a.Files, (a.FileBytes+1023)/1024,
				a.Calls, a.Seconds, a.Mails, lastUse(a), inUTC(a.LastChange), printable(a.Name), suspended)
		}
		return w.Flush()
	})
}

// lastUse returns when an account was last used.
func lastUse(a store.AccountSize) string {
	if a.LastUse == nil {
		return "-"
	}
	return inUTC(*a.LastUse)
}

// printLines prints values as lines of JSON.
func printLines[T any](p *program, values []T) error {
	for _, value := range values {
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		p.printf("%s\n", text)
	}
	return nil
}

type accountShowCommand struct {
	config.Store `embed:""`
	Account      string `arg:"" help:"Name or id of the account." placeholder:"ACCOUNT"`
}

// Run shows the account.
func (c *accountShowCommand) Run(p *program) error {
	return p.withAccount(c.Store, c.Account, func(s *store.Store, account feedback.Account) error {
		a, err := s.AccountSize(p.ctx, account.ID)
		if err != nil {
			return err
		}
		p.printf("Name: %s\nId: %s\nCreated: %s\nLast change: %s\n", printable(a.Name), a.ID, inUTC(a.CreatedAt), inUTC(a.LastChange))
		if a.SuspendedAt != nil {
			p.printf("Suspended: %s\n", inUTC(*a.SuspendedAt))
		}
		p.printf("Last use: %s\nIn 30 days: %d calls that took %.1f seconds, %d mails\n", lastUse(a), a.Calls, a.Seconds, a.Mails)
		p.printf("Requests: %d\nFiles: %d (%d bytes)\nUsers:\n", a.Requests, a.Files, a.FileBytes)
		if err := p.printUsers(s, account); err != nil {
			return err
		}
		apps, err := s.Apps(p.ctx, account.ID, feedback.ID{}, quota.MaxApps)
		if err != nil {
			return err
		}
		p.printf("Apps:\n")
		for _, app := range apps {
			p.printf("  %s  %s\n", app.ID, printable(app.Name))
		}
		return nil
	})
}

type accountCreateCommand struct {
	config.Store `embed:""`
	PublicURL    config.PublicURL `name:"public-url" help:"URL that browsers use for the service, with which the links begin." env:"GATHERKIT_PUBLIC_URL" placeholder:"URL"`
	Name         string           `arg:"" optional:"" help:"Name of the account." placeholder:"NAME"`
	OwnerEmail   string           `help:"E-mail address of the owner, with which they will log in." placeholder:"EMAIL"`
	OwnerName    string           `help:"Name of the owner." placeholder:"NAME"`
	App          string           `help:"Name of the account's first app, whose API key is printed. Without it, the account has none." placeholder:"NAME"`
	Stdin        bool             `help:"Create the accounts that standard input lists: a JSON object per line with name, owner_email, owner_name and, if wanted, app. They are printed as JSON."`
	JSON         bool             `name:"json" help:"Print one JSON object per account and line."`
}

// accountLine is an account in a list.
type accountLine struct {
	Name       string `json:"name"`
	OwnerEmail string `json:"owner_email"`
	OwnerName  string `json:"owner_name"`
	App        string `json:"app"`
}

// createdLine is what the command prints of a new account.
type createdLine struct {
	Name       string        `json:"name"`
	ID         feedback.ID   `json:"id"`
	Invitation string        `json:"invitation"` // for the owner; works once
	ExpiresAt  feedback.Time `json:"expires_at"`
	AppID      *feedback.ID  `json:"app_id"`
	APIKey     *string       `json:"api_key"`
}

// maxAccounts is how many accounts a list may have, because one transaction creates all of them.
const maxAccounts = 1000

// Validate checks the flags; kong calls it.
func (c *accountCreateCommand) Validate() error {
	one := c.Name != "" || c.OwnerEmail != "" || c.OwnerName != "" || c.App != ""
	switch {
	case c.Stdin && one:
		return errors.New("with --stdin, leave out NAME, --owner-email, --owner-name and --app")
	case !c.Stdin && (c.Name == "" || c.OwnerEmail == "" || c.OwnerName == ""):
		return errors.New("an account needs NAME, --owner-email and --owner-name, and many accounts --stdin")
	case c.PublicURL.URL == nil:
		return errors.New("--public-url must be the URL of the service, with which the link for the owner begins")
	}
	return c.Store.Validate()
}

// Run creates the accounts.
func (c *accountCreateCommand) Run(p *program) error {
	lines := []accountLine{{c.Name, c.OwnerEmail, c.OwnerName, c.App}}
	if c.Stdin {
		var err error
		if lines, err = p.readAccounts(); err != nil {
			return err
		}
	}
	var accounts []store.NewAccount
	for i, line := range lines {
		account, err := line.check()
		if err != nil {
			return c.inLine(i, err)
		}
		accounts = append(accounts, account)
	}
	return p.with(c.Store, func(s *store.Store) error {
		created, err := s.CreateAccounts(p.ctx, accounts)
		if err != nil {
			return c.inLine(len(created), named(err, accounts[len(created)].Name))
		}
		if c.JSON || c.Stdin {
			return printLines(p, c.printed(created))
		}
		for _, one := range c.printed(created) {
			p.printf("Created the account %q (%s).\nInvitation for %s, which works once until %s: %s\n",
				one.Name, one.ID, c.OwnerEmail, inUTC(one.ExpiresAt), one.Invitation)
			if one.APIKey != nil {
				p.printf("API key of the app %s: %s\n", printable(c.App), *one.APIKey)
			}
		}
		return nil
	})
}

// inLine says in which line of the list an error is.
func (c *accountCreateCommand) inLine(i int, err error) error {
	if !c.Stdin {
		return err
	}
	return fmt.Errorf("line %d: %w; no account was created", i+1, err)
}

func (c *accountCreateCommand) printed(created []store.CreatedAccount) (lines []createdLine) {
	for _, one := range created {
		line := createdLine{
			Name: one.Name, ID: one.ID, Invitation: c.PublicURL.String() + one.Invitation.Path(),
			ExpiresAt: one.Invitation.Expires,
		}
		if one.App.APIKey != "" {
			line.AppID, line.APIKey = &one.App.ID, &one.App.APIKey
		}
		lines = append(lines, line)
	}
	return lines
}

// readAccounts reads standard input, which has a JSON object in each line.
func (p *program) readAccounts() (lines []accountLine, err error) {
	scanner := bufio.NewScanner(p.stdin)
	for n := 1; scanner.Scan(); n++ {
		if n > maxAccounts {
			return nil, errors.New("the list has more than 1,000 lines; split it")
		}
		var line accountLine
		decoder := json.NewDecoder(bytes.NewReader(scanner.Bytes()))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&line); err != nil {
			return nil, fmt.Errorf("line %d must be a JSON object such as "+
				`{"name": "Acme", "owner_email": "ada@example.com", "owner_name": "Ada", "app": "Website"}: %w`, n, err)
		}
		lines = append(lines, line)
	}
	if scanner.Err() == nil && len(lines) == 0 {
		return nil, errors.New("standard input is empty; send a JSON object per line")
	}
	return lines, scanner.Err()
}

// check returns the account to create, or an error if it cannot be.
func (l accountLine) check() (account store.NewAccount, err error) {
	account.Name, account.App = strings.TrimSpace(l.Name), strings.TrimSpace(l.App)
	account.Owner = team.NewUser{Email: l.OwnerEmail, Name: strings.TrimSpace(l.OwnerName)}
	switch {
	case !validName(account.Name):
		return account, errors.New("the name of the account must have 1 to 100 characters, all on one line")
	case !feedback.ValidEmail(account.Owner.Email):
		return account, fmt.Errorf("%q is not an e-mail address such as ada@example.com", l.OwnerEmail)
	case !validName(account.Owner.Name):
		return account, errors.New("the name of the owner must have 1 to 100 characters, all on one line")
	case account.App != "" && !validName(account.App):
		return account, errors.New("the name of the app must have 1 to 100 characters, all on one line")
	}
	return account, nil
}

type accountRenameCommand struct {
	config.Store `embed:""`
	Account      string `arg:"" help:"Name or id of the account." placeholder:"ACCOUNT"`
	Name         string `arg:"" help:"The new name." placeholder:"NAME"`
}

// Run renames the account.
func (c *accountRenameCommand) Run(p *program) error {
	name := strings.TrimSpace(c.Name)
	if !validName(name) {
		return errors.New("the name of the account must have 1 to 100 characters, all on one line")
	}
	return p.withAccount(c.Store, c.Account, func(s *store.Store, account feedback.Account) error {
		if err := s.Team.Rename(p.ctx, account.ID, name); err != nil {
			return named(err, name)
		}
		p.printf("The account %q is now called %q.\n", account.Name, name)
		return nil
	})
}

type accountQuotaCommand struct {
	config.Store `embed:""`
	Quotas       config.Quotas `help:"Quotas of accounts for which this command sets no others, as in serve." env:"GATHERKIT_QUOTAS" placeholder:"QUOTA=MOST,…"`
	Account      string        `arg:"" optional:"" help:"Name or id of the account. Without it, all quotas are shown of which an account uses 80 % or more." placeholder:"ACCOUNT"`
	Changes      []string      `arg:"" optional:"" help:"Quotas to change, such as requests=1000 files=10GB members=none webhooks=default." placeholder:"QUOTA=MOST"`
}

// Run changes the quotas of an account and shows all of them, or shows those that are nearly used.
func (c *accountQuotaCommand) Run(p *program) error {
	changes, err := quota.Parse(c.Changes)
	if err != nil {
		return err
	}
	return p.with(c.Store, func(s *store.Store) error {
		if c.Account == "" {
			return printNear(p, s)
		}
		account, err := p.findAccount(s, c.Account)
		if err != nil {
			return err
		}
		if err := s.Quotas.Set(p.ctx, account.ID, changes); err != nil {
			return err
		}
		quotas, err := s.UsedQuotas(p.ctx, account.ID)
		if err != nil {
			return err
		}
		w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(w, "QUOTA\tUSED\tMOST")
		for _, q := range quotas {
			_, _ = fmt.Fprintln(w, quotaLine(q))
		}
		return w.Flush()
	}, func(o *store.Options) { o.Existing, o.Quotas = true, quota.Limits(c.Quotas) })
}

// printNear prints the quotas of which an account uses 80 % or more.
func printNear(p *program, s *store.Store) error {
	accounts, err := s.Team.Accounts(p.ctx)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	found := false
	for _, account := range accounts {
		quotas, err := s.UsedQuotas(p.ctx, account.ID)
		if err != nil {
			return err
		}
		for _, q := range quotas {
			if !q.Near() {
				continue
			}
			if !found {
				_, _ = fmt.Fprintln(w, "QUOTA\tUSED\tMOST\tACCOUNT")
				found = true
			}
			_, _ = fmt.Fprintf(w, "%s\t%s (%s)\n", quotaLine(q), printable(account.Name), account.ID)
		}
	}
	if !found {
		p.printf("No account uses 80 %% of a quota.\n")
	}
	return w.Flush()
}

// quotaLine returns the columns of a quota in a table.
func quotaLine(q store.UsedQuota) string {
	most, origin := int64(quota.None), " (default)"
	if q.Most != nil {
		most = *q.Most
	}
	if q.Own {
		origin = ""
	}
	return fmt.Sprintf("%s\t%s\t%s%s", q.Name, quota.Format(q.Name, q.Used), quota.Format(q.Name, most), origin)
}

type accountSuspendCommand struct {
	config.Store `embed:""`
	Account      string `arg:"" help:"Name or id of the account." placeholder:"ACCOUNT"`
}

// Run suspends the account.
func (c *accountSuspendCommand) Run(p *program) error {
	return p.withAccount(c.Store, c.Account, func(s *store.Store, account feedback.Account) error {
		changed, err := s.Team.Suspend(p.ctx, account.ID)
		switch {
		case err != nil:
			return err
		case !changed:
			p.printf("The account %q was suspended already.\n", account.Name)
		default:
			p.printf("The account %q is suspended. Its users are logged out, its keys, tokens and pages do not work,"+
				" and it sends no mail and calls no webhooks.\nTo undo it, run gatherkit account resume.\n", account.Name)
		}
		return nil
	})
}

type accountResumeCommand struct {
	config.Store `embed:""`
	Account      string `arg:"" help:"Name or id of the account." placeholder:"ACCOUNT"`
}

// Run resumes the account.
func (c *accountResumeCommand) Run(p *program) error {
	return p.withAccount(c.Store, c.Account, func(s *store.Store, account feedback.Account) error {
		changed, err := s.Team.Resume(p.ctx, account.ID)
		switch {
		case err != nil:
			return err
		case !changed:
			p.printf("The account %q is not suspended.\n", account.Name)
		default:
			p.printf("The account %q is on again. Its users log in again; its keys, tokens and pages work, and mail that waited is sent.\n",
				account.Name)
		}
		return nil
	})
}

type accountExportCommand struct {
	config.Storage `embed:""`
	Account        string `arg:"" help:"Name or id of the account." placeholder:"ACCOUNT"`
	Folder         string `arg:"" help:"Folder to write the account to. It must not exist yet." complete:"folder" placeholder:"FOLDER"`
}

// Run exports the account. Files are copied after the rows: one that is deleted meanwhile is missing, as its request will be.
func (c *accountExportCommand) Run(p *program) error {
	folder, err := newFolder(c.Folder)
	if err != nil {
		return err
	}
	return p.withFiles(c.Storage, func(s *store.Store, files *blob.Store) error {
		account, err := p.findAccount(s, c.Account)
		if err != nil {
			return err
		}
		var done copies
		err = folder.write(func(part string) error {
			at := config.Store{Data: part}
			empty := func(o *store.Options) { o.Copying = true }
			if err := p.with(at, func(to *store.Store) error { return s.ExportAccount(p.ctx, account.ID, to) }, empty); err != nil {
				return err
			}
			if files == nil {
				return nil
			}
			to, err := blob.Open(uploadsIn(part))
			if err != nil {
				return err
			}
			return s.Uploads.Each(p.ctx, account.ID, func(u feedback.Upload) error {
				return done.add(to.Copy(p.ctx, u.ID, files, u.ID))
			})
		})
		if err != nil {
			return err
		}
		p.printf("Wrote the account %q to %s. Attached files: %d, missing: %d.\n"+
			"It contains secrets and personal data; protect it like the database.\n", account.Name, folder, done.copied, done.missing)
		return nil
	})
}

// copies counts attached files that were copied, and those whose content is missing.
type copies struct{ copied, missing int }

// add counts a file by the error of its copy. It returns the error unless the content is missing.
func (c *copies) add(err error) error {
	switch {
	case err == nil:
		c.copied++
	case errors.Is(err, blob.ErrNotFound):
		c.missing++
	default:
		return err
	}
	return nil
}

type accountRestoreCommand struct {
	config.Storage `embed:""`
	PublicURL      config.PublicURL `name:"public-url" help:"URL that browsers use for the service, with which the link for the owner begins." env:"GATHERKIT_PUBLIC_URL" placeholder:"URL"`
	Account        string           `arg:"" help:"Name or id of the account in the backup." placeholder:"ACCOUNT"`
	From           string           `required:"" help:"The backup: a folder that backup or account export has written, or the URL of a PostgreSQL database." placeholder:"PLACE"`
	FromUploads    config.Uploads   `help:"Where the backup has attached files. The default is the folder uploads in --from." placeholder:"PLACE" complete:"folder"`
	As             string           `help:"Name that the account gets. The default is the one that it has in the backup." placeholder:"NAME"`
	OwnerEmail     string           `help:"E-mail address of a new owner, who is invited. Needed if the account still exists." placeholder:"EMAIL"`
	OwnerName      string           `help:"Name of the new owner." placeholder:"NAME"`
}

// Validate checks the flags; kong calls it.
func (c *accountRestoreCommand) Validate() error {
	from := storeAt(c.From)
	switch {
	case c.As != "" && !validName(strings.TrimSpace(c.As)):
		return errors.New("the name of the account must have 1 to 100 characters, all on one line")
	case (c.OwnerEmail == "") != (c.OwnerName == ""):
		return errors.New("a new owner needs --owner-email and --owner-name")
	case c.OwnerEmail != "" && !feedback.ValidEmail(c.OwnerEmail):
		return fmt.Errorf("%q is not an e-mail address such as ada@example.com", c.OwnerEmail)
	case c.OwnerEmail != "" && !validName(strings.TrimSpace(c.OwnerName)):
		return errors.New("the name of the owner must have 1 to 100 characters, all on one line")
	case c.OwnerEmail != "" && c.PublicURL.URL == nil:
		return errors.New("--public-url must be the URL of the service, with which the link for the owner begins")
	case from.Validate() != nil:
		return errFrom
	case same(from, c.Store):
		return errors.New("--from is the database to restore into; name that with --database or --data")
	}
	return c.Store.Validate()
}

// Run restores the account.
func (c *accountRestoreCommand) Run(p *program) error {
	return p.withFiles(config.Storage{Store: storeAt(c.From), Uploads: c.FromUploads}, func(from *store.Store, saved *blob.Store) error {
		account, err := p.findAccount(from, c.Account)
		if errors.Is(err, team.ErrNoAccount) {
			return fmt.Errorf("the backup has no account called %q; run gatherkit account list on it to see all accounts", c.Account)
		}
		if err != nil {
			return err
		}
		size, err := from.AccountSize(p.ctx, account.ID)
		if err != nil {
			return err
		}
		if size.Files > 0 && saved == nil {
			return fmt.Errorf("the account has %d attached files; name the place where the backup has them with --from-uploads", size.Files)
		}
		return p.withFiles(c.Storage, func(s *store.Store, files *blob.Store) error {
			if place := c.Place(); size.Files > 0 && files == nil && place != "" { // the service has had no files
				if files, err = blob.Open(place); err != nil {
					return err
				}
			}
			if size.Files > 0 && files == nil {
				return fmt.Errorf("the account has %d attached files; name the place for them with --uploads, as for the service", size.Files)
			}
			return c.restore(p, s, from, account, &filesToRestore{from: saved, to: files})
		})
	})
}

// filesToRestore copies the attached files of an account from a backup. Without a storage, there are none.
type filesToRestore struct {
	from, to *blob.Store
	done     copies
}

// Copy copies a file.
func (f *filesToRestore) Copy(ctx context.Context, from, to feedback.ID) error {
	return f.done.add(f.to.Copy(ctx, to, f.from, from))
}

// Remove removes a file.
func (f *filesToRestore) Remove(ctx context.Context, id feedback.ID) error {
	if f.to == nil {
		return nil
	}
	return f.to.Remove(ctx, id)
}

func (c *accountRestoreCommand) restore(p *program, s, from *store.Store, account feedback.Account, files *filesToRestore) error {
	r := store.Restoration{From: from, AccountID: account.ID, Name: cmp.Or(strings.TrimSpace(c.As), account.Name), Files: files}
	if c.OwnerEmail != "" {
		r.Owner = &team.NewUser{Email: c.OwnerEmail, Name: strings.TrimSpace(c.OwnerName)}
	}
	done, err := s.RestoreAccount(p.ctx, r)
	switch {
	case errors.Is(err, team.ErrAccountExists):
		return fmt.Errorf("an account is called %q already; give this one another name with --as", r.Name)
	case errors.Is(err, store.ErrNoOwner):
		return fmt.Errorf("%w; name somebody to invite with --owner-email and --owner-name", err)
	case errors.Is(err, feedback.ErrEmailTaken):
		return fmt.Errorf("a user of the account has the address %s; name another one with --owner-email", c.OwnerEmail)
	case err != nil:
		return err
	}
	p.printf("Restored the account %q (%s): %d rows. Attached files: %d, missing: %d.\n",
		done.Name, done.ID, done.Rows, files.done.copied, files.done.missing)
	if done.Beside {
		p.printf("The account from which it was copied still exists, so this one has new API keys, and its portals, webhooks," +
			" tokens and subscriptions are off.\n")
	}
	if done.Suspended {
		p.printf("It is suspended, as in the backup. To turn it on, run gatherkit account resume.\n")
	}
	for _, email := range done.Invite {
		p.printf("Somebody else logs in as %s by now, so this user cannot.\n", email)
	}
	for _, app := range done.Portals {
		p.printf("The portal of the app %s is off, because another app has its address by now.\n", printable(app))
	}
	if done.Invitation.Token != "" {
		p.printf("Invitation for %s, which works once until %s: %s\n", c.OwnerEmail, inUTC(done.Invitation.Expires),
			c.PublicURL.String()+done.Invitation.Path())
	}
	return nil
}

type accountDeleteCommand struct {
	config.Storage `embed:""`
	Account        string `arg:"" help:"Name or id of the account." placeholder:"ACCOUNT"`
	Confirm        string `required:"" help:"The name of the account again, as account list prints it." placeholder:"NAME"`
}

// Run deletes the account.
func (c *accountDeleteCommand) Run(p *program) error {
	return p.withFiles(c.Storage, func(s *store.Store, files *blob.Store) error {
		account, err := p.findAccount(s, c.Account)
		if err != nil {
			return err
		}
		if c.Confirm != account.Name {
			return fmt.Errorf("the account is called %q; to delete it, repeat this name with --confirm", account.Name)
		}
		size, err := s.AccountSize(p.ctx, account.ID)
		if err != nil {
			return err
		}
		remove := func(ctx context.Context, id feedback.ID) error { return files.Remove(ctx, id) }
		if files == nil {
			if size.Files > 0 {
				return fmt.Errorf("the account has %d attached files; name the place where they are stored with --uploads", size.Files)
			}
			remove = func(context.Context, feedback.ID) error { return nil } // announced ones, which nobody could send
		}
		rows, removed, err := s.DeleteAccount(p.ctx, account.ID, remove)
		switch {
		case errors.Is(err, store.ErrNotSuspended) && size.SuspendedAt == nil:
			return fmt.Errorf("the account %q is not suspended; run gatherkit account suspend, and wait a minute", account.Name)
		case errors.Is(err, store.ErrNotSuspended):
			return err
		case err != nil:
			return fmt.Errorf("the account %q is deleted in part; run the command again to delete the rest: %w", account.Name, err)
		}
		p.printf("Deleted the account %q (%s): %d rows and %d files.\nBackups contain it until you delete them.\n",
			account.Name, account.ID, rows, removed)
		return nil
	})
}

type appCommand struct {
	RotateKey appRotateKeyCommand `cmd:"" help:"Give an app a new API key. The old one stops working at once."`
}

type appRotateKeyCommand struct {
	config.Store `embed:""`
	Account      string `required:"" help:"Name or id of the account." placeholder:"ACCOUNT"`
	App          string `arg:"" help:"Name or id of the app." placeholder:"APP"`
}

// Run rotates the key.
func (c *appRotateKeyCommand) Run(p *program) error {
	return p.withAccount(c.Store, c.Account, func(s *store.Store, account feedback.Account) error {
		apps, err := s.Apps(p.ctx, account.ID, feedback.ID{}, quota.MaxApps)
		if err != nil {
			return err
		}
		apps = slices.DeleteFunc(apps, func(app feedback.App) bool { return app.Name != c.App && app.ID.String() != c.App })
		switch {
		case len(apps) == 0:
			return fmt.Errorf("the account %q has no app %q; run gatherkit account show to see its apps", account.Name, c.App)
		case len(apps) > 1:
			return fmt.Errorf("several apps are called %q; name the app by its id, which gatherkit account show prints", c.App)
		}
		app, err := s.ChangeApp(p.ctx, account.ID, apps[0].ID, feedback.Command(), func(app *feedback.App) error {
			app.APIKey = s.NewAPIKey()
			return nil
		})
		if err == nil {
			p.printf("API key of the app %s: %s\nThe old key no longer works.\n", printable(app.Name), app.APIKey)
		}
		return err
	})
}
