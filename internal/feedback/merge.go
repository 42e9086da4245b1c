package feedback

// CheckMerge returns an error if r cannot be merged into the request into. Merged requests
// form a tree, and root is the root of the tree of into: into itself, unless it is merged.
func (r *Request) CheckMerge(into, root Request) error {
	switch {
	case r.Box == Bin || into.Box == Bin || root.Box == Bin:
		return ErrRequestNotFound
	case r.ID == into.ID:
		return Invalid("requests", "into_id", "into_id must be the id of another request.")
	case r.AppID != into.AppID:
		return Invalid("requests", "into_id", "into_id must be the id of a request of the same app.")
	case r.Box == Quarantine || into.Box == Quarantine:
		// Otherwise, votes of a quarantined request would count for a visible one.
		return ErrQuarantined
	case r.MergedIntoID != nil:
		return ErrMerged
	case r.ID == root.ID:
		return ErrMerged.With("The request into_id is already merged into this one; unmerge it with requests-unmerge first.")
	}
	return nil
}
