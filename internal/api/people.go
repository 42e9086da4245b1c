package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"gatherkit/internal/feedback"
	"gatherkit/internal/lists"
	"gatherkit/internal/params"
	"gatherkit/internal/store"
)

// SubjectParams say whose data an operation is about.
type SubjectParams struct {
	Email      string `json:"email,omitempty" maxLength:"254" doc:"The address of the person. Case does not matter."`
	ExternalID string `json:"external_id,omitempty" maxLength:"200" doc:"The id of the person in your product. Send it, too, if you know both: what has only one of them is found by it alone."`
}

// subject returns the person, or people.invalid_email if there is none.
func (p SubjectParams) subject() (feedback.Subject, error) {
	s := feedback.Subject{Email: p.Email, ExternalID: p.ExternalID}
	if s == (feedback.Subject{}) {
		return s, feedback.Invalid("people", "email", "email or external_id is required to identify the person.")
	}
	return s, nil
}

// personCursor is where the next call of an operation about a person continues.
type personCursor struct {
	Place store.PersonPlace  `json:"p"`
	Of    string             `json:"o"` // a hash of the parameters
	Salt  feedback.ID        `json:"s,omitzero"`
	Done  store.PersonCounts `json:"d,omitzero"`
}

// resumePerson returns the cursor that a caller sent with the same parameters as before, or a fresh one.
func (a *API) resumePerson(c caller, operation, text string, parameters ...any) (cur personCursor, err error) {
	plain, err := json.Marshal(parameters)
	if err != nil {
		return cur, err
	}
	sum := sha256.Sum256(plain)
	of := hex.EncodeToString(sum[:16])
	signed, fresh, err := a.cursors.Resume(c.Account.ID, "people", operation, text)
	if err != nil || fresh {
		return personCursor{Of: of}, err
	}
	if err := json.Unmarshal([]byte(signed.Text), &cur); err != nil {
		return cur, err
	}
	if cur.Of != of {
		err = feedback.Invalid("people", "cursor",
			"cursor must be the next_cursor of a call with the same parameters; leave it empty for the first call.")
	}
	return cur, err
}

// nextPart returns the text of the cursor of the next call, or "" after the last one.
func (a *API) nextPart(c caller, operation string, cur personCursor, next *store.PersonPlace) (string, error) {
	if next == nil {
		return "", nil
	}
	cur.Place = *next
	text, err := json.Marshal(cur)
	if err != nil {
		return "", err
	}
	return a.cursors.Sign(lists.Cursor{Operation: operation, AccountID: c.Account.ID, Text: string(text)})
}

type peopleFindParams struct {
	SubjectParams
	Name   string `json:"name,omitempty" maxLength:"200" doc:"Texts that contain this name are listed in mentions, too. It does not identify the person: several people may have the same name."`
	Cursor string `json:"cursor,omitempty" verbatim:"true" doc:"next_cursor of the previous call, with the same parameters."`
}

type peopleFindResult struct {
	store.Found
	Count      int64  `json:"count" doc:"How many records of this answer people-erase changes. The sum of all answers is its parameter expected."`
	NextCursor string `json:"next_cursor" doc:"Send it as cursor to continue the search; empty if it is complete. An answer can be empty although more follow."`
}

func (a *API) peopleFind(ctx context.Context, c caller, in peopleFindParams) (result peopleFindResult, err error) {
	who, err := in.subject()
	if err != nil {
		return result, err
	}
	cur, err := a.resumePerson(c, "people-find", in.Cursor, who, in.Name)
	if err != nil {
		return result, err
	}
	if err := a.holdPage(ctx, c, lists.MaxLimit, rowBytes); err != nil {
		return result, err
	}
	found, err := a.Store.FindPerson(ctx, c.Account.ID, who, in.Name, cur.Place)
	if err != nil {
		return result, err
	}
	found.Requests = a.withLinks(c.Account.ID, found.Requests...)
	result = peopleFindResult{Found: found, Count: found.Count()}
	result.NextCursor, err = a.nextPart(c, "people-find", cur, found.Next)
	return result, err
}

type peopleEraseParams struct {
	SubjectParams
	Mode     string `json:"mode" enum:"anonymise,delete" doc:"anonymise: requests, votes and comments stay and count, but nothing says whose they are. delete: votes and comments are deleted, and the requests behind which nobody else is."`
	Expected int64  `json:"expected" minimum:"0" doc:"How many records people-find counted. If there are more, a call fails before it changes them."`
	Cursor   string `json:"cursor,omitempty" verbatim:"true" doc:"next_cursor of the previous call, with the same parameters."`
}

type peopleEraseResult struct {
	store.PersonCounts
	Deleted    int64         `json:"deleted_requests" doc:"With delete: how many of the requests were deleted."`
	Kept       []feedback.ID `json:"kept" doc:"With delete: requests that stay without the person, because others voted for them, wrote on them or are merged into them. Read whether their texts say who it was."`
	NextCursor string        `json:"next_cursor" doc:"Send it as cursor to continue; empty if the data is erased."`
}

func (a *API) peopleErase(ctx context.Context, c caller, in peopleEraseParams) (result peopleEraseResult, err error) {
	who, err := in.subject()
	if err != nil {
		return result, err
	}
	cur, err := a.resumePerson(c, "people-erase", in.Cursor, who, in.Mode, in.Expected)
	if err != nil {
		return result, err
	}
	if cur.Salt == (feedback.ID{}) {
		cur.Salt = a.Store.NewID()
	}
	erasure := store.Erasure{Of: who, Delete: in.Mode == "delete", Salt: cur.Salt}
	part, err := a.Store.ErasePerson(ctx, c.Account.ID, c.actor(), erasure, cur.Place, cur.Done, in.Expected-cur.Done.Total())
	if err != nil {
		return result, err
	}
	cur.Done = cur.Done.Plus(part.PersonCounts)
	result = peopleEraseResult{PersonCounts: part.PersonCounts, Deleted: part.Deleted, Kept: append([]feedback.ID{}, part.Kept...)}
	result.NextCursor, err = a.nextPart(c, "people-erase", cur, part.Next)
	return result, err
}

type peopleRectifyParams struct {
	SubjectParams
	NewEmail string `json:"new_email,omitempty" maxLength:"254" doc:"Replaces the address wherever one is stored. E-mail about requests ends; the new address is asked whether it wants some."`
	NewName  string `json:"new_name,omitempty" maxLength:"200" doc:"Replaces the name wherever one is stored."`
	Cursor   string `json:"cursor,omitempty" verbatim:"true" doc:"next_cursor of the previous call, with the same parameters."`
}

type peopleRectifyResult struct {
	store.PersonCounts
	NextCursor string `json:"next_cursor" doc:"Send it as cursor to continue; empty if everything is corrected."`
}

func (a *API) peopleRectify(ctx context.Context, c caller, in peopleRectifyParams) (result peopleRectifyResult, err error) {
	who, err := in.subject()
	switch {
	case err != nil:
		return result, err
	case in.NewEmail == "" && in.NewName == "":
		return result, feedback.Invalid("people", "new_name", "new_email or new_name is required.")
	case in.NewEmail != "" && !feedback.ValidEmail(in.NewEmail):
		return result, feedback.Invalid("people", "new_email", "new_email must be an e-mail address such as ada@example.com.")
	}
	cur, err := a.resumePerson(c, "people-rectify", in.Cursor, who, in.NewEmail, in.NewName)
	if err != nil {
		return result, err
	}
	change := store.Rectification{Of: who, Email: params.OrNil(in.NewEmail), Name: params.OrNil(in.NewName)}
	part, err := a.Store.RectifyPerson(ctx, c.Account.ID, c.actor(), change, cur.Place, cur.Done)
	if err != nil {
		return result, err
	}
	cur.Done = cur.Done.Plus(part.PersonCounts)
	result = peopleRectifyResult{PersonCounts: part.PersonCounts}
	result.NextCursor, err = a.nextPart(c, "people-rectify", cur, part.Next)
	return result, err
}
