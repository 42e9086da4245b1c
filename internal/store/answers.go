package store

import "gatherkit/internal/feedback"

// A request is answered once a user or a program of the account gives it another status than opened,
// merges it or comments on it publicly. Only the first answer counts, even if it is undone.

// isAnswer reports whether a change of a request from old to r answers it.
func isAnswer(by feedback.Actor, old, r feedback.Request) bool {
	return by.OfTeam() && r.Status != old.Status && r.Status != feedback.Opened
}

// setAnswered returns the assignment that stores how long the first answer took. The value
// of the parameter is answeredAt.
func setAnswered(parameter string) string {
	// Without the cast, the comparison with 0 would make the parameter a 32-bit integer.
	parameter = "CAST(" + parameter + " AS BIGINT)"
	return "answered_after = CASE WHEN " + parameter + " > 0" +
		" THEN COALESCE(answered_after, " + parameter + " - created_at) ELSE answered_after END"
}

// answeredAt returns now if the change is an answer, and 0 otherwise.
func answeredAt(answer bool, now feedback.Time) feedback.Time {
	if !answer {
		return 0
	}
	return now
}
