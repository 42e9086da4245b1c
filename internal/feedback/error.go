package feedback

import (
	"fmt"
	"time"
)

// Error is a refusal that a caller of the service gets to see: a stable code of
// the form area.reason and one plain English sentence. Anything that is not an
// Error is a fault of the service, is logged, and reaches callers as
// ErrInternal only.
type Error struct {
	Code    string
	Message string
	// Status is the HTTP status that goes with the code.
	Status int
	// RetryAfter says when another try makes sense; zero where it makes none.
	RetryAfter time.Duration
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Is makes errors.Is compare by code, so that a message made more specific by
// With or an added RetryAfter does not change what an error is.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// With returns the same refusal with a more specific sentence.
func (e *Error) With(format string, args ...any) *Error {
	c := *e
	c.Message = fmt.Sprintf(format, args...)
	return &c
}

// After returns the same refusal with the wait after which another try makes sense.
func (e *Error) After(d time.Duration) *Error {
	c := *e
	c.RetryAfter = max(d, time.Second)
	return &c
}

// Invalid is the refusal of one field: <area>.invalid_<field>, status 400.
func Invalid(area, field, message string) *Error {
	return &Error{Code: area + ".invalid_" + field, Message: message, Status: 400}
}

// Every code but the field faults that Invalid makes. Codes lists them for the
// documentation; a test holds the two together.
var (
	ErrInvalidJSON      = &Error{Code: "api.invalid_json", Status: 400, Message: "The body must be one JSON object in valid UTF-8, without duplicate keys or trailing data."}
	ErrUnknownParameter = &Error{Code: "api.unknown_parameter", Status: 400, Message: "The body has a parameter that this operation does not know."}

	ErrInvalidFile = &Error{Code: "uploads.invalid_file", Status: 400, Message: "A file must be a PNG, JPEG, GIF or WebP picture, a PDF or plain text, whatever its name says."}

	ErrMissingToken         = &Error{Code: "auth.missing_token", Status: 401, Message: "Send an access token in the header Authorization: Bearer <token>."}
	ErrInvalidToken         = &Error{Code: "auth.invalid_token", Status: 401, Message: "The access token is not valid; log in again."}
	ErrTokenExpired         = &Error{Code: "auth.token_expired", Status: 401, Message: "The access token has expired; get a new one with auth-refresh."}
	ErrInvalidCredentials   = &Error{Code: "auth.invalid_credentials", Status: 401, Message: "The e-mail or the password is wrong."}
	ErrInvalidRefreshToken  = &Error{Code: "auth.invalid_refresh_token", Status: 401, Message: "The refresh token is not valid any more; log in again."}
	ErrMissingAPIKey        = &Error{Code: "auth.missing_api_key", Status: 401, Message: "Send the app's API key in the header X-API-Key."}
	ErrIdentityExpired      = &Error{Code: "widget.identity_expired", Status: 401, Message: "The identity token has expired; get a new one from your backend and send the call again."}
	ErrInvalidIdentityToken = &Error{Code: "widget.invalid_identity_token", Status: 401, Message: "The identity token is not valid; it must be a JWT that is signed by HS256 with the app's identity secret."}
	ErrInvalidAPIKey        = &Error{Code: "auth.invalid_api_key", Status: 401, Message: "The API key is not valid; copy the current one from the app's settings."}

	ErrForbidden         = &Error{Code: "auth.forbidden", Status: 403, Message: "Your role does not allow this operation."}
	ErrOriginNotAllowed  = &Error{Code: "widget.origin_not_allowed", Status: 403, Message: "The app does not accept requests from this page's origin; add it to settings.allowed_origins."}
	ErrUploadsNotAllowed = &Error{Code: "widget.uploads_not_allowed", Status: 403, Message: "The app's settings do not allow files; turn on settings.widget.allow_file_uploads."}

	ErrUnknownOperation = &Error{Code: "api.unknown_operation", Status: 404, Message: "There is no such operation; /docs lists them all."}
	ErrAppNotFound      = &Error{Code: "apps.not_found", Status: 404, Message: "The app was not found."}
	ErrRequestNotFound  = &Error{Code: "requests.not_found", Status: 404, Message: "The request was not found."}
	ErrExportNotFound   = &Error{Code: "exports.not_found", Status: 404, Message: "The link does not work any more, as it was used or its time is over; make another one with requests-export."}
	ErrUploadNotFound   = &Error{Code: "uploads.not_found", Status: 404, Message: "There is no such file, or the link's time is over."}
	ErrCommentNotFound  = &Error{Code: "comments.not_found", Status: 404, Message: "The comment was not found."}
	ErrUserNotFound     = &Error{Code: "users.not_found", Status: 404, Message: "The user was not found."}
	ErrJoinLinkNotFound = &Error{Code: "auth.link_not_found", Status: 404, Message: "The link does not work any more, as it was used or its time is over; ask for another one."}
	ErrSessionNotFound  = &Error{Code: "sessions.not_found", Status: 404, Message: "You have no such session; it may have ended."}

	ErrMethodNotAllowed     = &Error{Code: "api.method_not_allowed", Status: 405, Message: "Operations are called with POST."}
	ErrRequestTimeout       = &Error{Code: "api.request_timeout", Status: 408, Message: "The body did not arrive in time; send it again."}
	ErrBodyTooLarge         = &Error{Code: "api.body_too_large", Status: 413, Message: "The body may be at most 256 KiB."}
	ErrUnsupportedMediaType = &Error{Code: "api.unsupported_media_type", Status: 415, Message: "Send the body as Content-Type: application/json, without Content-Encoding."}

	ErrSetupDone           = &Error{Code: "setup.already_done", Status: 409, Message: "This service already has users; log in, or add users with the command gatherkit user add."}
	ErrEmailTaken          = &Error{Code: "users.email_taken", Status: 409, Message: "This account already has a user with this e-mail."}
	ErrLastOwner           = &Error{Code: "users.last_owner", Status: 409, Message: "This is the last owner who can log in; make somebody else an owner first."}
	ErrIdempotencyMismatch = &Error{Code: "widget.idempotency_mismatch", Status: 409, Message: "This idempotency_key was used before with other content; use a new key for a new request."}
	ErrVersionConflict     = &Error{Code: "requests.version_conflict", Status: 409, Message: "The request was changed meanwhile; read it again and repeat the change."}
	ErrMerged              = &Error{Code: "requests.merged", Status: 409, Message: "The request is merged into another one; take it out with requests-unmerge first."}
	ErrQuarantined         = &Error{Code: "requests.quarantined", Status: 409, Message: "The request is in quarantine; take it out with requests-release first."}
	ErrNotQuarantined      = &Error{Code: "requests.not_quarantined", Status: 409, Message: "The request is not in quarantine; requests-delete moves it to the bin."}

	ErrCountMismatch = &Error{Code: "requests.count_mismatch", Status: 409, Message: "The filter matches another number of requests than expected; nothing was changed."}

	ErrRateLimited     = &Error{Code: "api.rate_limited", Status: 429, Message: "Too many calls from this address; try again later."}
	ErrTooManyAttempts = &Error{Code: "auth.too_many_attempts", Status: 429, Message: "Too many failed logins; try again later."}

	ErrInternal    = &Error{Code: "api.internal", Status: 500, Message: "Something went wrong on our side; the request id helps to find out what."}
	ErrUnavailable = &Error{Code: "api.unavailable", Status: 503, RetryAfter: time.Second, Message: "The service cannot take this call right now; try again shortly."}
)

// Codes lists every code that is not a field fault, in the order of their statuses.
func Codes() []*Error {
	return []*Error{
		ErrInvalidJSON, ErrUnknownParameter, ErrInvalidFile,
		ErrMissingToken, ErrInvalidToken, ErrTokenExpired, ErrInvalidCredentials, ErrInvalidRefreshToken, ErrMissingAPIKey, ErrInvalidAPIKey,
		ErrIdentityExpired, ErrInvalidIdentityToken,
		ErrForbidden, ErrOriginNotAllowed, ErrUploadsNotAllowed,
		ErrUnknownOperation, ErrAppNotFound, ErrRequestNotFound, ErrExportNotFound, ErrUploadNotFound, ErrCommentNotFound, ErrUserNotFound, ErrJoinLinkNotFound, ErrSessionNotFound,
		ErrMethodNotAllowed, ErrRequestTimeout,
		ErrSetupDone, ErrEmailTaken, ErrLastOwner, ErrIdempotencyMismatch, ErrVersionConflict, ErrCountMismatch, ErrMerged, ErrQuarantined, ErrNotQuarantined,
		ErrBodyTooLarge, ErrUnsupportedMediaType,
		ErrRateLimited, ErrTooManyAttempts,
		ErrInternal, ErrUnavailable,
	}
}
