package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gatherkit/internal/blob"
	"gatherkit/internal/config"
	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
)

type peopleCommand struct {
	Find    peopleFindCommand    `cmd:"" help:"Count what is stored about a person, and list the texts that mention them."`
	Export  peopleExportCommand  `cmd:"" help:"Write what is stored about a person to a folder."`
	Rectify peopleRectifyCommand `cmd:"" help:"Replace the name or the e-mail address of a person everywhere."`
	Erase   peopleEraseCommand   `cmd:"" help:"Erase a person, for good."`
}

// subject are the flags that say whose data a command is about.
type subject struct {
	Account    string `required:"" help:"Name or id of the account." placeholder:"ACCOUNT"`
	Email      string `help:"E-mail address of the person." placeholder:"EMAIL"`
	ExternalID string `name:"external-id" help:"Id of the person in the customer's product." placeholder:"ID"`
}

// who returns the person.
func (s subject) who() (feedback.Subject, error) {
	if s.Email == "" && s.ExternalID == "" {
		return feedback.Subject{}, errors.New("name the person with --email, --external-id or both")
	}
	return feedback.Subject{Email: s.Email, ExternalID: s.ExternalID}, nil
}

// with calls fn with the account and the person.
func (s subject) with(p *program, at config.Store, fn func(*store.Store, feedback.Account, feedback.Subject) error) error {
	who, err := s.who()
	if err != nil {
		return err
	}
	return p.withAccount(at, s.Account, func(s *store.Store, account feedback.Account) error { return fn(s, account, who) })
}

// findPerson returns all that an account stores about a person.
func (p *program) findPerson(s *store.Store, account feedback.Account, who feedback.Subject, name string) (store.Found, error) {
	all, err := s.FindPerson(p.ctx, account.ID, who, name, store.PersonPlace{})
	for err == nil && all.Next != nil {
		var more store.Found
		more, err = s.FindPerson(p.ctx, account.ID, who, name, *all.Next)
		all = all.With(more)
	}
	return all, err
}

type peopleFindCommand struct {
	config.Store `embed:""`
	subject      `embed:""`
	Name         string `help:"List texts that contain this name, too." placeholder:"NAME"`
}

// Run finds the person.
func (c *peopleFindCommand) Run(p *program) error {
	return c.with(p, c.Store, func(s *store.Store, account feedback.Account, who feedback.Subject) error {
		found, err := p.findPerson(s, account, who, c.Name)
		if err != nil {
			return err
		}
		p.printf("Requests: %d\nVotes: %d\nComments: %d\nHeld comments: %d\nSubscriptions, sessions and blocks: %d\n",
			len(found.Requests), len(found.Votes), len(found.Comments), len(found.HeldComments), len(found.Records))
		if names := found.OtherNames(who); len(names) > 0 {
			p.printf("The same records have these addresses and ids; search for them, too:\n")
			for _, name := range names {
				p.printf("  %s\n", printable(name))
			}
		}
		p.printMentions(found.Mentions)
		return nil
	})
}

func (p *program) printMentions(mentions []feedback.PersonMention) {
	if len(mentions) > 0 {
		p.printf("Texts that mention the person:\n")
	}
	for _, m := range mentions {
		p.printf("  %s of the request %s (%s)\n", strings.ReplaceAll(m.Field, "_", " "), printable(m.Title), m.RequestID)
	}
}

type peopleExportCommand struct {
	config.Storage `embed:""`
	subject        `embed:""`
	Output         string `required:"" help:"Folder to write to. It must not exist yet." complete:"folder" placeholder:"FOLDER"`
}

// Run exports the person.
func (c *peopleExportCommand) Run(p *program) error {
	who, err := c.who()
	if err != nil {
		return err
	}
	folder, err := newFolder(c.Output)
	if err != nil {
		return err
	}
	return p.withFiles(c.Storage, func(s *store.Store, files *blob.Store) error {
		account, err := p.findAccount(s, c.Account)
		if err != nil {
			return err
		}
		found, err := p.findPerson(s, account, who, "")
		if err != nil {
			return err
		}
		found.Mentions = []feedback.PersonMention{} // they are about others, too
		if files == nil && slices.ContainsFunc(found.Requests, func(r feedback.Request) bool { return len(r.Attachments) > 0 }) {
			return errors.New("the person attached files; name their place with --uploads")
		}
		var done copies
		err = folder.write(func(part string) error {
			text, err := json.MarshalIndent(found, "", "  ")
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(part, "person.json"), append(text, '\n'), 0o600); err != nil {
				return err
			}
			for _, r := range found.Requests {
				for _, a := range r.Attachments {
					if err := done.add(p.exportFile(files, a, part)); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		p.printf("Wrote requests: %d, votes: %d, comments: %d, files: %d (missing: %d) to %s.\n",
			len(found.Requests), len(found.Votes), len(found.Comments)+len(found.HeldComments), done.copied, done.missing, folder)
		return nil
	})
}

// exportFile writes an attached file to a folder. It returns blob.ErrNotFound if the content is gone.
func (p *program) exportFile(files *blob.Store, a feedback.Attachment, folder string) (err error) {
	if files == nil {
		return blob.ErrNotFound
	}
	from, err := files.Open(p.ctx, a.ID)
	if err != nil {
		return err
	}
	defer from.Close() //nolint:errcheck // it was only read
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // its files are closed
	to, err := root.Create(a.ID.String() + "-" + feedback.SafeFilename(a.Filename, a.ContentType))
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}

type peopleRectifyCommand struct {
	config.Store `embed:""`
	subject      `embed:""`
	NewEmail     string `help:"The right e-mail address." placeholder:"EMAIL"`
	NewName      string `help:"The right name." placeholder:"NAME"`
}

// Run corrects what is stored about the person.
func (c *peopleRectifyCommand) Run(p *program) error {
	switch {
	case c.NewEmail == "" && c.NewName == "":
		return errors.New("give the right address with --new-email, the right name with --new-name, or both")
	case c.NewEmail != "" && !feedback.ValidEmail(c.NewEmail):
		return fmt.Errorf("%q is not an e-mail address", c.NewEmail)
	case c.NewName != "" && !feedback.SingleLine(c.NewName):
		return errors.New("the name must be on one line")
	}
	return c.with(p, c.Store, func(s *store.Store, account feedback.Account, who feedback.Subject) error {
		change := store.Rectification{Of: who}
		if c.NewEmail != "" {
			change.Email = &c.NewEmail
		}
		if c.NewName != "" {
			change.Name = &c.NewName
		}
		var all store.PersonCounts
		for at := new(store.PersonPlace); at != nil; {
			part, err := s.RectifyPerson(p.ctx, account.ID, feedback.Command(), change, *at, all)
			if err != nil {
				return unfinished(err)
			}
			all, at = all.Plus(part.PersonCounts), part.Next
		}
		p.printf("Corrected requests: %d, votes: %d, comments: %d, sessions and blocks: %d.\n",
			all.Requests, all.Votes, all.Comments, all.Records)
		return nil
	})
}

// unfinished says how to go on after an error in the middle.
func unfinished(err error) error {
	return fmt.Errorf("only a part is done; run the command again to do the rest: %w", err)
}

type peopleEraseCommand struct {
	config.Store `embed:""`
	subject      `embed:""`
	Mode         string `required:"" enum:"anonymise,delete" help:"anonymise: requests, votes and comments stay without the person. delete: votes and comments are deleted, and requests behind which nobody else is." placeholder:"MODE"`
	Confirm      string `required:"" help:"The address or the id of the person again." placeholder:"EMAIL"`
}

// Run erases the person.
func (c *peopleEraseCommand) Run(p *program) error {
	if c.Confirm != c.Email && c.Confirm != c.ExternalID {
		return errors.New("repeat the address or the id of the person with --confirm")
	}
	return c.with(p, c.Store, func(s *store.Store, account feedback.Account, who feedback.Subject) error {
		found, err := p.findPerson(s, account, who, "")
		if err != nil {
			return err
		}
		erasure := store.Erasure{Of: who, Delete: c.Mode == "delete", Salt: s.NewID()}
		var all store.PersonCounts
		var deleted int64
		var kept []feedback.ID
		for at := new(store.PersonPlace); at != nil; {
			part, err := s.ErasePerson(p.ctx, account.ID, feedback.Command(), erasure, *at, all, found.Count()-all.Total())
			if errors.Is(err, feedback.ErrMoreThanExpected) {
				err = errors.New("the person has added something meanwhile")
			}
			if err != nil {
				return unfinished(err)
			}
			all, at = all.Plus(part.PersonCounts), part.Next
			deleted += part.Deleted
			kept = append(kept, part.Kept...)
		}
		p.printf("Erased requests: %d (deleted: %d), votes: %d, comments: %d, sessions and blocks: %d.\n",
			all.Requests, deleted, all.Votes, all.Comments, all.Records)
		slices.SortFunc(kept, feedback.ID.Compare)
		for _, id := range kept {
			p.printf("The request %s stays without the person, because others are behind it.\n", id)
		}
		if found, err = p.findPerson(s, account, who, ""); err != nil {
			return err
		}
		p.printMentions(found.Mentions)
		p.printf("Attached files are deleted within an hour. Backups contain the person until you delete them.\n")
		return nil
	})
}
