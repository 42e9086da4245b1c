package feedback

// CheckMerge refuses to merge r into another request, which counts at root: at itself
// unless it is merged, too. Merged into each other requests are a tree, of which only
// the root lives on.
func (r *Request) CheckMerge(into, root Request) error {
	switch {
	case r.Box == Bin || into.Box == Bin || root.Box == Bin:
		return ErrRequestNotFound
	case r.ID == into.ID:
		return Invalid("requests", "into_id", "into_id must be the id of another request.")
	case r.AppID != into.AppID:
		return Invalid("requests", "into_id", "into_id must be the id of a request of the same app.")
	case r.Box == Quarantine || into.Box == Quarantine:
		return ErrQuarantined // or its votes would count among those of a request that others see
	case r.MergedIntoID != nil:
		return ErrMerged
	case r.ID == root.ID:
		return ErrMerged.With("The request of into_id is merged into this one; take it out with requests-unmerge first.")
	}
	return nil
}
