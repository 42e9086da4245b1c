package store

import "gatherkit/internal/feedback"

// A request is answered when a user of the account first gives it a status, a merge
// included, or says something about it in public. It stays so whatever comes later.

// answers reports whether a change of a request is an answer.
func answers(by feedback.Actor, old, r feedback.Request) bool {
	return by.Kind == feedback.ByUser && r.Status != old.Status && r.Status != feedback.Opened
}

// answered sets how long the answer took, unless there was one before. The parameter is
// answerAt.
func answered(parameter string) string {
	parameter = "CAST(" + parameter + " AS BIGINT)" // which a comparison with 0 would make a small one
	return "answered_after = CASE WHEN " + parameter + " > 0 THEN COALESCE(answered_after, " + parameter + " - created_at) ELSE answered_after END"
}

// answerAt is when the answer was given, 0 for none.
func answerAt(answers bool, now feedback.Time) feedback.Time {
	if !answers {
		return 0
	}
	return now
}
