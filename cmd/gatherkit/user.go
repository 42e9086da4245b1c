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
)

type userCommand struct {
	Add         userAddCommand         `cmd:"" help:"Add a user; the account is created when it is new."`
	List        userListCommand        `cmd:"" help:"List all accounts and their users."`
	SetPassword userSetPasswordCommand `cmd:"" help:"Set a user's password and end the user's sessions."`
}

// newPassword is how a password comes in: on standard input, or made here.
type newPassword struct {
	PasswordStdin bool `help:"Read the password from standard input; without it one is made and printed."`
}

type userAddCommand struct {
	config.Store `embed:""`
	newPassword  `embed:""`
	Account      string `required:"" help:"Name of the account." placeholder:"NAME"`
	Email        string `required:"" help:"E-mail to log in with." placeholder:"EMAIL"`
	Name         string `required:"" help:"Name of the person." placeholder:"NAME"`
	Role         string `help:"What the user may do: ${enum}." enum:"viewer,member,admin,owner" default:"owner"`
}

// Run adds the user.
func (c *userAddCommand) Run(p *program) error {
	switch {
	case !feedback.ValidEmail(c.Email):
		return fmt.Errorf("%q is not an e-mail address; give one such as ada@example.com", c.Email)
	case !validName(c.Account):
		return errors.New("the account's name must have 1 to 100 characters, all on one line; give another with --account")
	case !validName(c.Name):
		return errors.New("the user's name must have 1 to 100 characters, all on one line; give another with --name")
	}
	secret, hash, err := c.read(p)
	if err != nil {
		return err
	}
	return p.with(c.Store, func(s *store.Store) error {
		user := store.NewUser{Email: c.Email, Name: strings.TrimSpace(c.Name), Role: feedback.Role(c.Role), PasswordHash: hash}
		account, added, err := s.AddUser(p.ctx, strings.TrimSpace(c.Account), user)
		if errors.Is(err, feedback.ErrEmailTaken) {
			return fmt.Errorf("a user with the e-mail %s exists already; gatherkit user list shows all of them", c.Email)
		}
		if err != nil {
			return err
		}
		p.printf("Added %s (%s) to the account %q with the role %s.\n", shown(added.Name), shown(added.Email), account.Name, c.Role)
		c.tell(p, secret)
		return nil
	})
}

func validName(name string) bool {
	n := utf8.RuneCountInString(strings.TrimSpace(name))
	return utf8.ValidString(name) && n >= 1 && n <= 100 && feedback.SingleLine(strings.TrimSpace(name))
}

// shown is what somebody wrote as it can be printed: quoted when it has characters by which
// it could change what the terminal shows.
func shown(text string) string {
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
		accounts, err := s.Accounts(p.ctx)
		if err != nil {
			return err
		}
		if len(accounts) == 0 {
			p.printf("There are no users yet; add one with gatherkit user add.\n")
		}
		for _, account := range accounts {
			p.printf("%s (%s)\n", shown(account.Name), account.ID)
			for _, user := range account.Users {
				invited := ""
				if user.Invited {
					invited = " (invited)"
				}
				p.printf("  %-7s %s  %s%s\n", user.Role, shown(user.Email), shown(user.Name), invited)
			}
		}
		return nil
	})
}

type userSetPasswordCommand struct {
	config.Store `embed:""`
	newPassword  `embed:""`
	Email        string `required:"" help:"E-mail of the user." placeholder:"EMAIL"`
}

// Run sets the password.
func (c *userSetPasswordCommand) Run(p *program) error {
	secret, hash, err := c.read(p)
	if err != nil {
		return err
	}
	return p.withExisting(c.Store, func(s *store.Store) error {
		credentials, err := s.Credentials(p.ctx, c.Email)
		if err != nil {
			return err
		}
		if credentials.UserID == (feedback.ID{}) {
			return fmt.Errorf("there is no user with the e-mail %s who has accepted the invitation; gatherkit user list shows all of them", c.Email)
		}
		if err := s.SetPassword(p.ctx, credentials, hash, feedback.Command(), feedback.ID{}); err != nil {
			return err
		}
		p.printf("The password is set, and the user's sessions have ended.\n")
		c.tell(p, secret)
		return nil
	})
}

// maxLine is more than the longest password, and bounds what is read.
const maxLine = 2048

// read returns the password and its hash.
func (n newPassword) read(p *program) (secret, hash string, err error) {
	secret = rand.Text()
	if n.PasswordStdin {
		line, err := bufio.NewReader(io.LimitReader(p.stdin, maxLine)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", "", fmt.Errorf("read the password: %w", err)
		}
		secret = strings.TrimRight(line, "\r\n")
	}
	if !feedback.ValidPassword(secret) {
		return "", "", errors.New("the password must be 10 to 1,024 bytes long; give another on standard input")
	}
	hasher := password.New(rand.Reader)
	hash, err = hasher.Hash(context.Background(), password.Asker{}, secret)
	return secret, hash, err
}

// tell prints a password that was made here.
func (n newPassword) tell(p *program, secret string) {
	if !n.PasswordStdin {
		p.printf("Password: %s\n", secret)
	}
}
