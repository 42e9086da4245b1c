package fair

import "context"

type whoKey struct{}

// By returns a context for the work of somebody who shares with others, such as an account.
func By(ctx context.Context, who [16]byte) context.Context {
	return context.WithValue(ctx, whoKey{}, who)
}

// Who returns whose work a context is for; zero if nobody has said so.
func Who(ctx context.Context) [16]byte {
	who, _ := ctx.Value(whoKey{}).([16]byte)
	return who
}
