package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
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
	Add         userAddCommand         `cmd:"" help:"Add a user. The account is created if it does not exist."`
	List        userListCommand        `cmd:"" help:"List all accounts and their users."`
	SetPassword userSetPasswordCommand `cmd:"" help:"Set a user's password and end all sessions of the user."`
}

// newPassword is the source of a password: standard input, or a generated one.
type newPassword struct {
	PasswordStdin bool `help:"Read the password from standard input. Otherwise, a password is generated and printed."`
}

type userAddCommand struct {
	config.Store `embed:""`
	newPassword  `embed:""`
	Account      string `required:"" help:"Name of the account." placeholder:"NAME"`
	Email        string `required:"" help:"E-mail address to log in with." placeholder:"EMAIL"`
	Name         string `required:"" help:"Name of the user." placeholder:"NAME"`
	Role         string `help:"Role of the user, one of ${enum}." enum:"viewer,member,admin,owner" default:"owner"`
}

// Run adds the user.
func (c *userAddCommand) Run(p *program) error {
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
	return p.with(c.Store, func(s *store.Store) error {
		user := team.NewUser{Email: c.Email, Name: strings.TrimSpace(c.Name), Role: feedback.Role(c.Role), PasswordHash: hash}
		account, added, err := s.Team.AddUser(p.ctx, strings.TrimSpace(c.Account), user)
		if errors.Is(err, feedback.ErrEmailTaken) {
			return fmt.Errorf("a user with the e-mail address %s already exists; run gatherkit user list to see all users", c.Email)
		}
		if err != nil {
			return err
		}
		p.printf("Added %s (%s) to the account %q with the role %s.\n", printable(added.Name), printable(added.Email), account.Name, c.Role)
		c.printGenerated(p, secret)
		return nil
	})
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
			p.printf("%s (%s)\n", printable(account.Name), account.ID)
			for _, user := range account.Users {
				invited := ""
				if user.Invited {
					invited = " (invited)"
				}
				p.printf("  %-7s %s  %s%s\n", user.Role, printable(user.Email), printable(user.Name), invited)
			}
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
				"run gatherkit user list to see all users", c.Email)
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
