package index

import (
	"context"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// readTogether reads with few statements what several items ask for. query returns the SELECT of an item, whose last column
// is place, and adds its parameters. SELECTs of the same length are joined by UNION ALL. take gets each row, as scan
// returns it, with its item. The rows of an item have no order.
//
// Connections keep statements prepared, and each length and each number of SELECTs makes another one. Therefore length
// returns powers of two, up to maxTerms, and readTogether joins a power of two with at most maxTerms together.
func readTogether[T, V any](
	ctx context.Context, q database.Queryer, items []T, length func(T) int,
	query func(item T, p *database.Parameters, place string) string,
	scan func(database.Row) (V, error), take func(T, V) error,
) error {
	alike := map[int][]T{}
	for _, item := range items {
		alike[length(item)] = append(alike[length(item)], item)
	}
	for _, n := range slices.Sorted(maps.Keys(alike)) {
		for rest := alike[n]; len(rest) > 0; {
			joined := rest[:1<<(bits.Len(uint(min(len(rest), accountsAtOnce, maxTerms/n)))-1)]
			rest = rest[len(joined):]
			var p database.Parameters
			selects := make([]string, len(joined))
			for i, item := range joined {
				selects[i] = query(item, &p, strconv.Itoa(i))
			}
			if err := database.Each(ctx, q, func(r database.Row) error {
				var i int
				v, err := scan(database.RowWith{Row: r, More: []any{&i}})
				if err != nil {
					return err
				}
				return take(joined[i], v)
			}, strings.Join(selects, " UNION ALL "), p...); err != nil {
				return err
			}
		}
	}
	return nil
}

// one is the length of items without a list.
func one[T any](T) int { return 1 }

// idsOf are ids of requests of an account.
type idsOf struct {
	accountID feedback.ID
	ids       []feedback.ID
}

// readRequests reads a value for each of some requests of several accounts. query returns the SELECT of the rows of one
// account with some ids. scan returns the id of a request and its value, or no id for a row that does not matter.
func readRequests[V any](
	ctx context.Context, q database.Queryer, of []idsOf, query func(account, ids, place string) string,
	scan func(database.Row) (feedback.ID, V, error),
) ([]map[feedback.ID]V, error) {
	type piece struct {
		idsOf
		values map[feedback.ID]V
	}
	type value struct {
		id feedback.ID
		v  V
	}
	values := make([]map[feedback.ID]V, len(of))
	var pieces []piece
	for i, o := range of {
		values[i] = make(map[feedback.ID]V, len(o.ids))
		for ids := range slices.Chunk(o.ids, maxTerms) {
			pieces = append(pieces, piece{idsOf{o.accountID, database.Padded(ids)}, values[i]})
		}
	}
	err := readTogether(ctx, q, pieces, func(p piece) int { return len(p.ids) },
		func(of piece, p *database.Parameters, place string) string {
			account := p.Add(of.accountID)
			return query(account, database.List(p, of.ids), place)
		}, func(r database.Row) (found value, err error) {
			found.id, found.v, err = scan(r)
			return found, err
		}, func(p piece, found value) error {
			if found.id != (feedback.ID{}) {
				p.values[found.id] = found.v
			}
			return nil
		})
	return values, err
}
