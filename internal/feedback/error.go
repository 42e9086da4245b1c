package feedback

import (
	"fmt"
	"math"
	"time"
)

// Error is an error that the API returns to callers: a stable code of the form
// area.reason and one plain English sentence. All other errors are faults of the
// service: they are logged, and callers receive ErrInternal instead.
type Error struct {
	Code    string
	Message string
	// Status is the HTTP status code.
	Status int
	// RetryAfter is how long to wait before a retry, or 0 if the error does not say.
	RetryAfter time.Duration
	// RateLimit is the value of the RateLimit header of the answer (draft-ietf-httpapi-ratelimit-headers), or "" for none.
	RateLimit string
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Is reports whether target is an *Error with the same code. Nothing else matters, so that copies made by With, After
// and Spent match the original.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// With returns a copy of the error with a more specific message.
func (e *Error) With(format string, args ...any) *Error {
	c := *e
	c.Message = fmt.Sprintf(format, args...)
	return &c
}

// After returns a copy of the error that asks for a retry after d, or after one second if
// d is shorter.
func (e *Error) After(d time.Duration) *Error {
	c := *e
	c.RetryAfter = max(d, time.Second)
	return &c
}

// Spent returns a copy of the error with a RateLimit header that says that nothing is left of a quota, for reset or, if
// that is 0, for an unknown time.
func (e *Error) Spent(quota string, reset time.Duration) *Error {
	c := *e
	c.RateLimit = `"` + quota + `";r=0`
	if reset > 0 {
		c.RateLimit += fmt.Sprintf(";t=%.0f", math.Ceil(reset.Seconds()))
	}
	return &c
}

// Invalid returns the error for an invalid field, with the code <area>.invalid_<field> and
// the status 400.
func Invalid(area, field, message string) *Error {
	return newError(400, area+".invalid_"+field, message)
}

func newError(status int, code, message string) *Error {
	return &Error{Code: code, Message: message, Status: status}
}

// The errors of the API, except those of single fields, which Invalid makes. Codes lists
// all of them.
var (
	ErrInvalidJSON = newError(400, "api.invalid_json",
		"The body must be one JSON object in valid UTF-8, without duplicate keys or trailing data.")
	ErrUnknownParameter = newError(400, "api.unknown_parameter",
		"The body contains a parameter that this operation does not accept.")

	ErrInvalidFile = newError(400, "uploads.invalid_file",
		"The file must be a PNG, JPEG, GIF or WebP image, a PDF or plain text; the content decides, not the name.")

	ErrMissingToken = newError(401, "auth.missing_token",
		"Send an access token in the header Authorization: Bearer <token>.")
	ErrInvalidToken = newError(401, "auth.invalid_token",
		"The access token is not valid; log in again.")
	ErrTokenExpired = newError(401, "auth.token_expired",
		"The access token has expired; get a new one with auth-refresh.")
	ErrInvalidCredentials = newError(401, "auth.invalid_credentials",
		"The e-mail or the password is wrong.")
	ErrInvalidRefreshToken = newError(401, "auth.invalid_refresh_token",
		"The refresh token is no longer valid; log in again.")
	ErrMissingAPIKey = newError(401, "auth.missing_api_key",
		"Send the app's API key in the header X-API-Key.")
	ErrIdentityExpired = newError(401, "widget.identity_expired",
		"The identity token has expired; get a new one from your backend and repeat the call.")
	ErrInvalidIdentityToken = newError(401, "widget.invalid_identity_token",
		"The identity token is not valid; it must be a JWT signed with HS256 and the app's identity secret.")
	ErrInvalidAPIKey = newError(401, "auth.invalid_api_key",
		"The API key is not valid; copy the current one from the app's settings.")
	ErrMailLinkNotFound = newError(404, "mail.link_not_found",
		"This link is no longer valid.")
	ErrMailOff = newError(409, "mail.off",
		"E-mail is not configured on this service.")
	ErrStatusLinkNotFound = newError(404, "mine.link_not_found",
		"This link is incomplete or has expired; ask for a new one.")

	ErrPortalNotFound = newError(404, "portal.not_found",
		"There is no such page, or it is not for everyone.")
	ErrTicketNotFound = newError(404, "portal.ticket_not_found",
		"This address has expired or was used; sign in again.")
	ErrSignInNeeded = newError(401, "portal.sign_in_needed",
		"Sign in first.")
	ErrBlocked = newError(403, "portal.blocked",
		"You can no longer vote, comment or send ideas here.")
	ErrSuspended = newError(403, "auth.account_suspended",
		"This account is suspended; ask the operator of this service.")
	ErrForbidden = newError(403, "auth.forbidden",
		"Your role does not allow this operation.")
	ErrOriginNotAllowed = newError(403, "widget.origin_not_allowed",
		"The app does not accept requests from this page's origin; add it to settings.allowed_origins.")
	ErrUploadsNotAllowed = newError(403, "widget.uploads_not_allowed",
		"The app's settings do not allow file uploads; turn on settings.widget.allow_file_uploads.")

	ErrUnknownOperation = newError(404, "api.unknown_operation",
		"This operation does not exist; see /docs for a list of all operations.")
	ErrAppNotFound = newError(404, "apps.not_found",
		"The app was not found.")
	ErrRequestNotFound = newError(404, "requests.not_found",
		"The request was not found.")
	ErrExportNotFound = newError(404, "exports.not_found",
		"This link has expired or was already used; create a new one with requests-export.")
	ErrUploadNotFound = newError(404, "uploads.not_found",
		"The file was not found, or the link has expired.")
	ErrCommentNotFound = newError(404, "comments.not_found",
		"The comment was not found.")
	ErrUserNotFound = newError(404, "users.not_found",
		"The user was not found.")
	ErrJoinLinkNotFound = newError(404, "auth.link_not_found",
		"This link has expired or was already used; ask for a new one.")
	ErrLinkNotFound     = newError(404, "links.not_found", "The request has no such link; it may have been removed.")
	ErrEntryNotFound    = newError(404, "entries.not_found", "The entry of the changelog was not found.")
	ErrViewNotFound     = newError(404, "views.not_found", "The view was not found.")
	ErrTemplateNotFound = newError(404, "templates.not_found", "The template was not found.")
	ErrTokenNotFound    = newError(404, "tokens.not_found", "The token was not found; it may have been revoked.")
	ErrWebhookNotFound  = newError(404, "webhooks.not_found", "The webhook was not found.")
	ErrEventNotFound    = newError(404, "webhooks.event_not_found",
		"This webhook has no event with that number.")
	ErrMentionNotFound = newError(404, "mentions.not_found",
		"The mention was not found; the comment may have changed or be gone.")
	ErrSessionNotFound = newError(404, "sessions.not_found",
		"The session was not found; it may have ended.")

	ErrMethodNotAllowed = newError(405, "api.method_not_allowed",
		"Call operations with POST.")
	ErrRequestTimeout = newError(408, "api.request_timeout",
		"The body did not arrive in time; send it again.")
	ErrBodyTooLarge = newError(413, "api.body_too_large",
		"The body may be at most 256 KiB.")
	ErrUnsupportedMediaType = newError(415, "api.unsupported_media_type",
		"Send the body as Content-Type: application/json, without Content-Encoding.")

	ErrSetupDone = newError(409, "setup.already_done",
		"This service already has users; log in, or add users with gatherkit user add.")
	ErrEmailTaken = newError(409, "users.email_taken",
		"This account already has a user with this e-mail.")
	ErrLastOwner = newError(409, "users.last_owner",
		"This is the last owner who can log in; make another user an owner first.")
	ErrSlugTaken = newError(409, "apps.slug_taken",
		"Another app has this settings.portal.slug; choose another one.")
	ErrHostTaken = newError(409, "apps.host_taken",
		"The portal of another app has this settings.portal.host; choose another one.")
	ErrTooManyApps = newError(409, "apps.too_many",
		"The account has as many apps as its quota allows; delete one first.")
	ErrTooManyViews = newError(409, "views.too_many",
		"There can be at most 50 views of the team, and 50 of your own; delete one first.")
	ErrTooManyTemplates = newError(409, "templates.too_many",
		"There can be at most 100 templates; delete one first.")
	ErrTooManyTokens = newError(409, "tokens.too_many",
		"There can be at most 50 service tokens, and 50 tokens of each user; revoke one first.")
	ErrTooManyWebhooks = newError(409, "webhooks.too_many",
		"The account has as many webhooks as its quota allows; delete one first.")
	ErrTooManyUsers = newError(409, "users.too_many",
		"The account has as many users as its quota allows; remove one first.")
	ErrFilesFull = newError(409, "uploads.quota_reached",
		"The storage for files is full; submit your request without this file.")
	ErrTooManyLinks = newError(409, "links.too_many",
		"A request can have at most 20 links; remove one first.")
	ErrPositionAhead = newError(409, "events.position_ahead",
		"The log of changes ends before this position; an older copy of the database was restored.")
	ErrIdempotencyMismatch = newError(409, "widget.idempotency_mismatch",
		"This idempotency_key was already used with different content; use a new key for each request.")
	ErrNothingAsked = newError(409, "widget.nothing_asked",
		"This person has not asked or voted for anything yet, so a link would show nothing.")
	ErrReplyNotAllowed = newError(409, "requests.reply_not_allowed",
		"You can answer once the team has commented, and write at most 10 answers in a row.")
	ErrVersionConflict = newError(409, "requests.version_conflict",
		"The request has changed since you read it; read it again and repeat your change.")
	ErrEntryConflict = newError(409, "entries.version_conflict",
		"The entry has changed since you read it; read it again and repeat your change.")
	ErrMerged = newError(409, "requests.merged",
		"The request is merged into another one; unmerge it with requests-unmerge first.")
	ErrQuarantined = newError(409, "requests.quarantined",
		"The request is in quarantine; release it with requests-release first.")
	ErrNotQuarantined = newError(409, "requests.not_quarantined",
		"The request is not in quarantine; use requests-delete to move it to the bin.")

	ErrMoreThanExpected = newError(409, "people.more_than_expected",
		"There is more about this person than expected; this call changed nothing, so check what people-find returns now.")
	ErrCountMismatch = newError(409, "requests.count_mismatch",
		"The filter matches a different number of requests than expected; nothing was changed.")

	ErrRateLimited = newError(429, "api.rate_limited",
		"Too many calls; try again later.")
	ErrRequestsSpent = newError(429, "requests.quota_reached",
		"No more requests can be submitted this month; keep yours, and try again later.")
	ErrTooManyAttempts = newError(429, "auth.too_many_attempts",
		"Too many failed logins; try again later.")

	ErrInternal = newError(500, "api.internal",
		"Something went wrong on our side; include the request id when you report it.")
	ErrUnavailable = newError(503, "api.unavailable",
		"The service cannot take this call right now; try again shortly.").After(time.Second)
)

// Codes returns all errors declared above, sorted by status.
func Codes() []*Error {
	return []*Error{
		ErrInvalidJSON, ErrUnknownParameter, ErrInvalidFile,
		ErrMissingToken, ErrInvalidToken, ErrTokenExpired, ErrInvalidCredentials, ErrInvalidRefreshToken,
		ErrMissingAPIKey, ErrInvalidAPIKey, ErrIdentityExpired, ErrInvalidIdentityToken, ErrStatusLinkNotFound, ErrMailLinkNotFound, ErrMailOff,
		ErrPortalNotFound, ErrTicketNotFound, ErrSignInNeeded, ErrBlocked,
		ErrSuspended, ErrForbidden, ErrOriginNotAllowed, ErrUploadsNotAllowed,
		ErrUnknownOperation, ErrAppNotFound, ErrRequestNotFound, ErrExportNotFound, ErrUploadNotFound,
		ErrCommentNotFound, ErrUserNotFound, ErrJoinLinkNotFound, ErrMentionNotFound, ErrSessionNotFound, ErrViewNotFound, ErrTemplateNotFound,
		ErrEntryNotFound, ErrLinkNotFound, ErrTokenNotFound, ErrWebhookNotFound, ErrEventNotFound,
		ErrMethodNotAllowed, ErrRequestTimeout,
		ErrSetupDone, ErrEmailTaken, ErrLastOwner, ErrSlugTaken, ErrHostTaken, ErrTooManyApps, ErrTooManyViews,
		ErrTooManyTemplates, ErrTooManyTokens, ErrTooManyLinks, ErrTooManyWebhooks, ErrTooManyUsers, ErrFilesFull,
		ErrPositionAhead, ErrIdempotencyMismatch, ErrNothingAsked, ErrReplyNotAllowed, ErrVersionConflict, ErrEntryConflict,
		ErrCountMismatch, ErrMoreThanExpected, ErrMerged, ErrQuarantined, ErrNotQuarantined,
		ErrBodyTooLarge, ErrUnsupportedMediaType,
		ErrRateLimited, ErrRequestsSpent, ErrTooManyAttempts,
		ErrInternal, ErrUnavailable,
	}
}
