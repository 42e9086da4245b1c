package index

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"strings"
)

// tagsTerm is the term of the row that has the posting lists of all tags of a block. Facets
// and statistics read the lists of all tags, and a row for each of them would take most of
// their time.
const tagsTerm = "!tags"

// packTags returns the stored form of the posting lists of tags, by their terms: for each
// one, the term, then the stored list, and before both of them their length as a varint.
func packTags(lists map[string][]byte) []byte {
	var packed []byte
	for _, term := range slices.Sorted(maps.Keys(lists)) {
		packed = append(binary.AppendUvarint(packed, uint64(len(term))), term...)
		packed = append(binary.AppendUvarint(packed, uint64(len(lists[term]))), lists[term]...)
	}
	return packed
}

// eachTag calls visit for the posting lists in the row of tagsTerm. It returns errDamaged for
// anything that packTags cannot have made of lists.
func eachTag(packed []byte, visit func(term string, stored []byte) error) error {
	next := func() (part []byte) {
		length, n := binary.Uvarint(packed)
		if n <= 0 || length > math.MaxInt32 || int(length) > len(packed)-n {
			return nil
		}
		end := n + int(length)
		part, packed = packed[n:end], packed[end:]
		return part
	}
	for len(packed) > 0 {
		term := next()
		stored := next()
		if len(term) == 0 || len(stored) == 0 {
			return errDamaged
		}
		if err := visit(string(term), stored); err != nil {
			return err
		}
	}
	return nil
}

// changeTags changes the posting lists in the row of tagsTerm, and returns how many it has
// afterwards.
func changeTags(packed []byte, flips map[string][]flip) (changed []byte, n int, err error) {
	lists := map[string][]byte{}
	if err := eachTag(packed, func(term string, stored []byte) error {
		lists[term] = stored
		return nil
	}); err != nil {
		return nil, 0, err
	}
	for term, of := range flips {
		var list set
		if stored := lists[term]; stored != nil {
			if err := list.addStored(stored); err != nil {
				return nil, 0, err
			}
		}
		list.apply(of)
		if list.count() > 0 {
			lists[term] = list.encode()
		} else {
			delete(lists, term)
		}
	}
	return packTags(lists), len(lists), nil
}

// splitTags takes the changes of tags out of the changes of a block.
func splitTags(flips map[string][]flip) (tags map[string][]flip) {
	tags = map[string][]flip{}
	for term, of := range flips {
		if strings.HasPrefix(term, string(byTag)) {
			tags[term] = of
			delete(flips, term)
		}
	}
	return tags
}
