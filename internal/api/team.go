package api

import (
	"context"
	"errors"

	"gatherkit/internal/feedback"
	"gatherkit/internal/team"
)

// JoinLink is a link with which a user chooses a password.
type JoinLink struct {
	Link      string        `json:"link" doc:"Works once; send it only to the user. Relative without a public URL."`
	ExpiresAt feedback.Time `json:"expires_at" format:"date-time" doc:"When the link expires, if nothing ends it earlier."`
}

func (a *API) linkTo(link team.JoinLink) JoinLink {
	return JoinLink{a.link(link.Path()), link.Expires}
}

type usersInviteParams struct {
	Email string        `json:"email" minLength:"3" maxLength:"254" doc:"The user logs in with it."`
	Name  string        `json:"name" minLength:"1" maxLength:"100"`
	Role  feedback.Role `json:"role" enum:"viewer,member,admin,owner" doc:"Only owners can invite owners."`
	Send  bool          `json:"send,omitempty" doc:"Also send the link to the user by e-mail, at most 10 a minute."`
}

type usersInviteResult struct {
	User feedback.Member `json:"user"`
	SentLink
}

// SentLink is a link, and whether it was also sent by mail.
type SentLink struct {
	JoinLink
	Sent bool `json:"sent" doc:"Whether the link is also sent by e-mail."`
}

func (a *API) usersInvite(ctx context.Context, c caller, in usersInviteParams) (usersInviteResult, error) {
	if !feedback.ValidEmail(in.Email) {
		return usersInviteResult{}, feedback.Invalid("users", "email", "email must be an e-mail address such as ada@example.com.")
	}
	if err := a.mailLink(c, in.Send); err != nil {
		return usersInviteResult{}, err
	}
	user, link, err := a.Store.Team.Invite(ctx, c.Account.ID, c.actor(), team.NewUser{Email: in.Email, Name: in.Name, Role: in.Role})
	if err != nil {
		return usersInviteResult{}, err
	}
	if in.Send {
		err = a.Mail.Invite(ctx, c.Account.ID, c.Account.Name, c.User.Name, in.Email, link.Token, link.Expires)
	}
	return usersInviteResult{user, SentLink{a.linkTo(link), in.Send}}, err
}

type userParams struct {
	ID feedback.ID `json:"id" format:"uuid" doc:"The user."`
}

type usersRecoverParams struct {
	ID   feedback.ID `json:"id" format:"uuid" doc:"The user."`
	Send bool        `json:"send,omitempty" doc:"Also send the link to the user by e-mail, at most 10 a minute."`
}

func (a *API) usersRecover(ctx context.Context, c caller, in usersRecoverParams) (SentLink, error) {
	// Otherwise, a stolen access token would be enough to change the user's password.
	if in.ID == c.User.ID {
		return SentLink{}, feedback.Invalid("users", "id",
			"id must be the id of another user; change your own password with auth-change-password.")
	}
	if err := a.mailLink(c, in.Send); err != nil {
		return SentLink{}, err
	}
	link, m, err := a.Store.Team.Recover(ctx, c.Account.ID, c.actor(), in.ID)
	if err != nil {
		return SentLink{}, err
	}
	switch {
	case in.Send && m.Invited:
		err = a.Mail.Invite(ctx, c.Account.ID, c.Account.Name, c.User.Name, m.Email, link.Token, link.Expires)
	case in.Send:
		err = a.Mail.Recover(ctx, c.Account.ID, c.User.Name, m.Email, link.Token, link.Expires)
	}
	return SentLink{a.linkTo(link), in.Send}, err
}

type usersUpdateParams struct {
	ID   feedback.ID    `json:"id" format:"uuid" doc:"The user."`
	Name *string        `json:"name,omitempty" minLength:"1" maxLength:"100"`
	Role *feedback.Role `json:"role,omitempty" enum:"viewer,member,admin,owner" doc:"Only owners can make owners or change their role."`
}

type userResult struct {
	User feedback.Member `json:"user"`
}

func (a *API) usersUpdate(ctx context.Context, c caller, in usersUpdateParams) (userResult, error) {
	user, err := a.Store.Team.Change(ctx, c.Account.ID, c.actor(), in.ID, in.Name, in.Role)
	return userResult{user}, err
}

type usersRemoveResult struct {
	Removed bool        `json:"removed"`
	ID      feedback.ID `json:"id" format:"uuid"`
}

func (a *API) usersRemove(ctx context.Context, c caller, in userParams) (usersRemoveResult, error) {
	if err := a.Store.RemoveUser(ctx, c.Account.ID, c.actor(), in.ID); err != nil {
		return usersRemoveResult{}, err
	}
	if in.ID == c.User.ID {
		c.setCookie = new("")
	}
	return usersRemoveResult{true, in.ID}, nil
}

type authCheckInviteParams struct {
	Token string `json:"token" verbatim:"true" doc:"The part of the link after #."`
}

type authCheckInviteResult struct {
	Email       string `json:"email"`
	Name        string `json:"name"`
	AccountName string `json:"account_name"`
	Invited     bool   `json:"invited" doc:"True until the user has accepted the invitation."`
}

func (a *API) authCheckInvite(ctx context.Context, _ *client, in authCheckInviteParams) (authCheckInviteResult, error) {
	i, err := a.Store.Team.Invitee(ctx, in.Token)
	return authCheckInviteResult{i.Email, i.Name, i.Account.Name, i.Invited}, err
}

type authAcceptInviteParams struct {
	Token    string  `json:"token" verbatim:"true" doc:"The part of the link after #."`
	Password string  `json:"password" verbatim:"true" maxLength:"1024" doc:"10 to 1,024 bytes."`
	Name     *string `json:"name,omitempty" minLength:"1" maxLength:"100" doc:"The user's name; keeps the current one by default."`
}

func (a *API) authAcceptInvite(ctx context.Context, c *client, in authAcceptInviteParams) (loginResult, error) {
	invitee, err := a.Store.Team.Invitee(ctx, in.Token) // before the costly hash
	if err != nil {
		return loginResult{}, err
	}
	if fault := feedback.PasswordFault(in.Password); fault != "" {
		return loginResult{}, feedback.Invalid("auth", "password", "password "+fault+".")
	}
	hash, err := a.Passwords.Hash(ctx, c.asker(invitee.Email), in.Password)
	if err != nil {
		return loginResult{}, err
	}
	session, tokens, err := a.Store.Team.Accept(ctx, in.Token, hash, in.Name, c.Agent)
	if errors.Is(err, feedback.ErrEmailTaken) {
		err = feedback.ErrEmailTaken.With(
			"This e-mail already belongs to another account on this service; ask for an invitation with a different e-mail.")
	}
	if err != nil {
		return loginResult{}, err
	}
	return loginResult{User: session.User, Account: session.Account, TokenPair: c.deliver(tokens)}, nil
}
