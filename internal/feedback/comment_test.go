package feedback

import (
	"errors"
	"testing"
)

// TestWhoMayChangeComments checks that authors may change and delete their own comments, that
// admins and owners may delete those of others, and that nobody may change those.
func TestWhoMayChangeComments(t *testing.T) {
	author, other, body, public := ID{1}, ID{2}, "B2", Public
	for _, user := range []ID{author, other} {
		for _, role := range []Role{RoleMember, RoleAdmin, RoleOwner} {
			comment := Comment{Author: Author{ID: &author}, Body: "B", Visibility: Internal}
			old := comment
			err := comment.Edit(user, CommentChange{Body: &body})
			if own := user == author; own != (err == nil) || !own && (!errors.Is(err, ErrForbidden) || comment != old) {
				t.Errorf("%s, own %v, changes it: %v", role, own, err)
			}
			err = comment.CheckRemoval(user, role)
			if may := user == author || role != RoleMember; may != (err == nil) || !may && !errors.Is(err, ErrForbidden) {
				t.Errorf("%s, own %v, deletes it: %v", role, user == author, err)
			}
		}
	}
	comment := Comment{Author: Author{ID: &author}, Body: "B", Visibility: Internal}
	if err := comment.Edit(author, CommentChange{Visibility: &public}); err != nil || comment.Body != "B" || comment.Visibility != Public {
		t.Errorf("%+v, %v", comment, err)
	}
}

// TestCommentSentences checks what the history says about comments.
func TestCommentSentences(t *testing.T) {
	name := "Ada"
	for want, e := range map[string]Event{
		"Ada wrote an internal comment.": {Kind: CommentCreated, After: map[string]any{"visibility": "internal", "body": "B"}},
		"Ada wrote a public comment.":    {Kind: CommentCreated, After: map[string]any{"visibility": "public", "body": "B"}},
		"Ada edited a comment.": {
			Kind: CommentUpdated, Before: map[string]any{"body": "A"}, After: map[string]any{"body": "B"},
		},
		"Ada made a comment public.": {
			Kind: CommentUpdated, Before: map[string]any{"visibility": "internal"}, After: map[string]any{"visibility": "public"},
		},
		"Ada edited a comment and made it internal.": {
			Kind: CommentUpdated, Before: map[string]any{"body": "A", "visibility": "public"},
			After: map[string]any{"body": "B", "visibility": "internal"},
		},
		"Ada deleted an internal comment.": {Kind: CommentDeleted, Before: map[string]any{"visibility": "internal", "body": "B"}},
		"Ada deleted a public comment by another user.": {
			Kind: CommentDeleted, Actor: EventActor{ID: &ID{2}}, Before: map[string]any{"visibility": "public", "author_id": ID{1}.String()},
		},
		"Ada deleted a public comment.": {
			Kind: CommentDeleted, Actor: EventActor{ID: &ID{1}}, Before: map[string]any{"visibility": "public", "author_id": ID{1}.String()},
		},
	} {
		e.Actor.Kind, e.Actor.Name = ByUser, &name
		e.Summarize()
		if e.Summary != want {
			t.Errorf("%q, want %q", e.Summary, want)
		}
	}
}

// TestDeletedCommentsOfUnknown checks that the history does not mention another author if the
// author or the actor is unknown.
func TestDeletedCommentsOfUnknown(t *testing.T) {
	name := "Ada"
	for _, e := range []Event{
		{Actor: EventActor{ID: &ID{2}}, Before: map[string]any{"visibility": "public"}},
		{Before: map[string]any{"visibility": "public", "author_id": ID{1}.String()}},
	} {
		e.Kind, e.Actor.Kind, e.Actor.Name = CommentDeleted, ByUser, &name
		e.Summarize()
		if e.Summary != "Ada deleted a public comment." {
			t.Errorf("%q", e.Summary)
		}
	}
}
