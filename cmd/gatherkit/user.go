package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gatherkit/internal/config"
	"gatherkit/internal/feedback"
	"gatherkit/internal/password"
	"gatherkit/internal/store"
	"gatherkit/internal/team"
)

type userCommand struct {
	Add         userAddCommand         `cmd:"" help:"Add a user to an account."`
	List        userListCommand        `cmd:"" help:"List all accounts and their users."`
	Role        userRoleCommand        `cmd:"" help:"Change the role of a user."`
	Link        userLinkCommand        `cmd:"" help:"Print a link with which a user chooses a password."`
	SetPassword userSetPasswordCommand `cmd:"" help:"Set a user's password and end all sessions of the user."`
	Remove      userRemoveCommand      `cmd:"" help:"Remove a user. What they wrote stays."`
}

// newPassword is the source of a password: standard input, or a generated one.
type newPassword struct {
	PasswordStdin bool `help:"Read the password from standard input. Otherwise, a password is generated and printed."`
}

type userAddCommand struct {
	config.Store `embed:""`
	newPassword  `embed:""`
	Account      string `required:"" help:"Name or id of the account." placeholder:"ACCOUNT"`
	NewAccount   bool   `help:"Create the account. The user becomes its owner."`
	Email        string `required:"" help:"E-mail address to log in with." placeholder:"EMAIL"`
	Name         string `required:"" help:"Name of the user." placeholder:"NAME"`
	Role         string `help:"Role of the user: viewer, member, admin or owner. Only --new-account needs none." enum:"viewer,member,admin,owner," default:"" placeholder:"ROLE"`
}

// Validate checks the flags; kong calls it.
func (c *userAddCommand) Validate() error {
	switch {
	case c.NewAccount && c.Role != "" && c.Role != string(feedback.RoleOwner):
		return errors.New("--role must be owner with --new-account, because an account needs an owner")
	case !c.NewAccount && c.Role == "":
		return errors.New("--role must be viewer, member, admin or owner")
	}
	return c.Store.Validate()
}

// Run adds the user.
func (c *userAddCommand) Run(p *program) error {
	user := team.NewUser{Email: c.Email, Name: strings.TrimSpace(c.Name), Role: feedback.Role(c.Role)}
	switch {
	case !feedback.ValidEmail(c.Email):
		return fmt.Errorf("%q is not an e-mail address; set --email to an address such as ada@example.com", c.Email)
	case !validName(c.Account):
		return errors.New("the account name must have 1 to 100 characters, all on one line; change --account")
	case !validName(c.Name):
		return errors.New("the user name must have 1 to 100 characters, all on one line; change --name")
	}
	secret, hash, err := c.read(p)
	if err != nil {
		return err
	}
	user.PasswordHash = hash
	add := c.add
	if c.NewAccount {
		add = c.create
	}
	return p.with(c.Store, func(s *store.Store) error {
		err := add(p, s, user)
		if errors.Is(err, feedback.ErrEmailTaken) {
			return fmt.Errorf("a user with the e-mail address %s already exists; run gatherkit user list to see all users", c.Email)
		}
		if err == nil {
			c.printGenerated(p, secret)
		}
		return err
	})
}

func (c *userAddCommand) create(p *program, s *store.Store, owner team.NewUser) error {
	created, err := s.CreateAccounts(p.ctx, []store.NewAccount{{Name: strings.TrimSpace(c.Account), Owner: owner}})
	if errors.Is(err, team.ErrAccountExists) {
		return fmt.Errorf("an account is called %q already; leave out --new-account to add a user to it", c.Account)
	}
	if err == nil {
		p.printf("Created the account %q with the owner %s (%s).\n", created[0].Name, printable(owner.Name), printable(owner.Email))
	}
	return err
}

func (c *userAddCommand) add(p *program, s *store.Store, user team.NewUser) error {
	account, err := p.findAccount(s, c.Account)
	if errors.Is(err, team.ErrNoAccount) {
		return fmt.Errorf("%w, or add --new-account to create it", err)
	}
	if err != nil {
		return err
	}
	added, err := s.Team.AddUser(p.ctx, account.ID, user)
	if err == nil {
		p.printf("Added %s (%s) to the account %q with the role %s.\n",
			printable(added.Name), printable(added.Email), account.Name, c.Role)
	}
	return err
}

func validName(name string) bool {
	n := utf8.RuneCountInString(strings.TrimSpace(name))
	return utf8.ValidString(name) && n >= 1 && n <= 100 && feedback.SingleLine(strings.TrimSpace(name))
}

// printable returns text that is safe to print. Text with characters that could control the
// terminal is quoted.
func printable(text string) string {
	if quoted := strconv.Quote(text); quoted != `"`+text+`"` {
		return quoted
	}
	return text
}

type userListCommand struct {
	config.Store `embed:""`
}

// Run lists the users.
func (c *userListCommand) Run(p *program) error {
	return p.withExisting(c.Store, func(s *store.Store) error {
		accounts, err := s.Team.Accounts(p.ctx)
		if err != nil {
			return err
		}
		if len(accounts) == 0 {
			p.printf("There are no users yet; add one with gatherkit user add.\n")
		}
		for _, account := range accounts {
			suspended := ""
			if account.Suspended {
				suspended = " (suspended)"
			}
			p.printf("%s (%s)%s\n", printable(account.Name), account.ID, suspended)
			if err := p.printUsers(s, account.Account); err != nil {
				return err
			}
		}
		return nil
	})
}

// printUsers prints the users of an account.
func (p *program) printUsers(s *store.Store, account feedback.Account) error {
	return s.Team.Each(p.ctx, account.ID, func(user feedback.Member) error {
		invited := ""
		if user.Invited {
			invited = " (invited)"
		}
		p.printf("  %-7s %s  %s%s\n", user.Role, printable(user.Email), printable(user.Name), invited)
		return nil
	})
}

// namedUser says which user a command is about.
type namedUser struct {
	Email   string `required:"" help:"E-mail address of the user." placeholder:"EMAIL"`
	Account string `help:"Name or id of the account, if users of several have the address." placeholder:"ACCOUNT"`
}

// find returns the user and their account.
func (n namedUser) find(p *program, s *store.Store) (account team.KnownAccount, user feedback.Member, err error) {
	accounts, err := s.Team.Accounts(p.ctx)
	if err != nil {
		return account, user, err
	}
	if n.Account != "" {
		if account.Account, err = p.findAccount(s, n.Account); err != nil {
			return account, user, err
		}
		accounts = slices.DeleteFunc(accounts, func(a team.KnownAccount) bool { return a.ID != account.ID })
	}
	found := 0
	for _, one := range accounts {
		err := s.Team.Each(p.ctx, one.ID, func(m feedback.Member) error {
			if feedback.FoldEmail(m.Email) == feedback.FoldEmail(n.Email) {
				account, user = one, m
				found++
			}
			return nil
		})
		if err != nil {
			return account, user, err
		}
	}
	switch found {
	case 0:
		of := ""
		if n.Account != "" {
			of = fmt.Sprintf(" of the account %q", account.Name)
		}
		return account, user, fmt.Errorf("no user%s has the e-mail address %s; run gatherkit user list to see all users", of, n.Email)
	case 1:
		return account, user, nil
	}
	return account, user, fmt.Errorf("users of several accounts have the e-mail address %s; name the account with --account", n.Email)
}

type userRoleCommand struct {
	config.Store `embed:""`
	namedUser    `embed:""`
	Role         string `required:"" help:"The new role: ${enum}." enum:"viewer,member,admin,owner" placeholder:"ROLE"`
}

// Run changes the role.
func (c *userRoleCommand) Run(p *program) error {
	return p.withExisting(c.Store, func(s *store.Store) error {
		account, user, err := c.find(p, s)
		if err != nil {
			return err
		}
		role := feedback.Role(c.Role)
		user, err = s.Team.Change(p.ctx, account.ID, feedback.Command(), user.ID, nil, &role)
		if err := keepsOwner(err, account.Account); err != nil {
			return err
		}
		p.printf("%s (%s) in the account %q has the role %s.\n", printable(user.Name), printable(user.Email), account.Name, user.Role)
		return nil
	})
}

// keepsOwner explains the error of an act that would leave an account without an owner.
func keepsOwner(err error, account feedback.Account) error {
	if errors.Is(err, feedback.ErrLastOwner) {
		return fmt.Errorf("the account %q has no other owner who can log in; make somebody else an owner first", account.Name)
	}
	return err
}

type userRemoveCommand struct {
	config.Store `embed:""`
	namedUser    `embed:""`
}

// Run removes the user.
func (c *userRemoveCommand) Run(p *program) error {
	return p.withExisting(c.Store, func(s *store.Store) error {
		account, user, err := c.find(p, s)
		if err != nil {
			return err
		}
		if err := keepsOwner(s.RemoveUser(p.ctx, account.ID, feedback.Command(), user.ID), account.Account); err != nil {
			return err
		}
		p.printf("Removed %s (%s) from the account %q. All sessions and tokens of the user were ended.\n",
			printable(user.Name), printable(user.Email), account.Name)
		return nil
	})
}

type userLinkCommand struct {
	config.Store `embed:""`
	namedUser    `embed:""`
	PublicURL    config.PublicURL `name:"public-url" help:"URL that browsers use for the service, with which the link begins." env:"GATHERKIT_PUBLIC_URL" placeholder:"URL"`
}

// Validate checks the flags; kong calls it.
func (c *userLinkCommand) Validate() error {
	if c.PublicURL.URL == nil {
		return errors.New("--public-url must be the URL of the service, with which the link begins")
	}
	return c.Store.Validate()
}

// Run prints a link, which replaces the one before.
func (c *userLinkCommand) Run(p *program) error {
	return p.withExisting(c.Store, func(s *store.Store) error {
		account, user, err := c.find(p, s)
		if err != nil {
			return err
		}
		link, user, err := s.Team.Recover(p.ctx, account.ID, feedback.Command(), user.ID)
		if err != nil {
			return err
		}
		what := "Link to choose a new password"
		if user.Invited {
			what = "Invitation"
		}
		p.printf("%s for %s in the account %q, which works once until %s: %s\n", what, printable(user.Email), account.Name,
			inUTC(link.Expires), c.PublicURL.String()+link.Path())
		if account.Suspended {
			p.printf("The account is suspended. The link works once you run gatherkit account resume.\n")
		}
		return nil
	})
}

type userSetPasswordCommand struct {
	config.Store `embed:""`
	newPassword  `embed:""`
	Email        string `required:"" help:"E-mail address of the user." placeholder:"EMAIL"`
}

// Run sets the password.
func (c *userSetPasswordCommand) Run(p *program) error {
	secret, hash, err := c.read(p)
	if err != nil {
		return err
	}
	return p.withExisting(c.Store, func(s *store.Store) error {
		credentials, err := s.Team.Credentials(p.ctx, c.Email)
		if err != nil {
			return err
		}
		if credentials.UserID == (feedback.ID{}) {
			return fmt.Errorf("no user with the e-mail address %s exists, or the user has not accepted the invitation yet; "+
				"run gatherkit user list to see all users, and gatherkit user link for a new invitation", c.Email)
		}
		if err := s.Team.SetPassword(p.ctx, credentials, hash, feedback.Command(), feedback.ID{}); err != nil {
			return err
		}
		p.printf("The password was changed, and all sessions of the user were ended.\n")
		c.printGenerated(p, secret)
		return nil
	})
}

// maxLine limits how much is read, and is longer than the longest password.
const maxLine = 2048

// read returns a password from standard input, or a new random one, and its hash.
func (n newPassword) read(p *program) (secret, hash string, err error) {
	secret = rand.Text()
	if n.PasswordStdin {
		line, err := bufio.NewReader(io.LimitReader(p.stdin, maxLine)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", "", fmt.Errorf("cannot read the password: %w", err)
		}
		secret = strings.TrimRight(line, "\r\n")
	}
	if fault := feedback.PasswordFault(secret); fault != "" {
		return "", "", fmt.Errorf("the password %s", fault)
	}
	hasher := password.New(rand.Reader)
	hash, err = hasher.Hash(context.Background(), password.Asker{}, secret)
	return secret, hash, err
}

// printGenerated prints a generated password.
func (n newPassword) printGenerated(p *program, secret string) {
	if !n.PasswordStdin {
		p.printf("Password: %s\n", secret)
	}
}
