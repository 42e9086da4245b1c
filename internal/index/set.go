package index

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// blockSize is how many ordinals a block of an app's index has, and so the most bits of a
// posting list. A list of at most 896 bytes stays on a page of SQLite with its key.
const blockSize = 7_168

// set is a set of ordinals in a block.
type set [blockSize / 64]uint64

// fill adds the ordinals below n.
func (s *set) fill(n int) {
	for i := range s {
		s[i] = 1<<min(max(n-i*64, 0), 64) - 1
	}
}

func (s *set) add(i int)      { s[i/64] |= 1 << (i % 64) }
func (s *set) remove(i int)   { s[i/64] &^= 1 << (i % 64) }
func (s *set) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

func (s *set) and(other *set) {
	for i := range s {
		s[i] &= other[i]
	}
}

func (s *set) count() (n int) {
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// countIn returns how many ordinals are in from ≤ i < until.
func (s *set) countIn(from, until int) (n int) {
	part := *s
	part.keep(from, until)
	return part.count()
}

// common returns how many ordinals two sets share.
func (s *set) common(other *set) (n int) {
	for i, word := range s {
		n += bits.OnesCount64(word & other[i])
	}
	return n
}

// next returns the least ordinal from i on, and prev the greatest up to i. They return -1
// if there is none.
func (s *set) next(i int) int {
	for at := i / 64; at < len(s); at++ {
		word := s[at]
		if at == i/64 {
			word &= ^uint64(0) << (i % 64)
		}
		if word != 0 {
			return at*64 + bits.TrailingZeros64(word)
		}
	}
	return -1
}

func (s *set) prev(i int) int {
	for at := i / 64; at >= 0; at-- {
		word := s[at]
		if at == i/64 {
			word &= ^uint64(0) >> (63 - i%64)
		}
		if word != 0 {
			return at*64 + 63 - bits.LeadingZeros64(word)
		}
	}
	return -1
}

// after and before return the ordinals beside i, or -1.
func (s *set) after(i int) int {
	if i == blockSize-1 {
		return -1
	}
	return s.next(i + 1)
}

func (s *set) before(i int) int {
	if i == 0 {
		return -1
	}
	return s.prev(i - 1)
}

// keep removes the ordinals outside of from ≤ i < until.
func (s *set) keep(from, until int) {
	for i := range s {
		low, high := min(max(from-i*64, 0), 64), min(max(until-i*64, 0), 64)
		s[i] &= (1<<high - 1) &^ (1<<low - 1)
	}
}

// A posting list is stored in the shorter of two forms. The first byte says which.
const (
	asGaps   = 0 // each ordinal as a varint, less the one before and 1
	asBitmap = 1 // one bit per ordinal, without zero bytes at the end
)

// encode returns the stored form of a set.
func (s *set) encode() []byte {
	last := s.prev(blockSize - 1)
	if last < 0 {
		return []byte{asGaps}
	}
	length := 1 + last/8 + 1
	gaps := append(make([]byte, 0, length), asGaps)
	for i, before := s.next(0), -1; i >= 0 && len(gaps) <= length; before, i = i, s.after(i) {
		gaps = binary.AppendUvarint(gaps, uint64(i-before-1))
	}
	if len(gaps) <= length {
		return gaps
	}
	bitmap := make([]byte, 1+len(s)*8)
	bitmap[0] = asBitmap
	for i, word := range s {
		binary.LittleEndian.PutUint64(bitmap[1+i*8:], word)
	}
	return bitmap[:length]
}

var errDamaged = errors.New("a posting list of the index is damaged")

// addGaps adds the ordinals of a stored set whose form is asGaps.
func (s *set) addGaps(stored []byte) error {
	i := -1
	for rest := stored[1:]; len(rest) > 0; {
		gap, n := binary.Uvarint(rest)
		if n <= 0 || gap >= blockSize || i+1+int(gap) >= blockSize {
			return errDamaged
		}
		i += 1 + int(gap)
		s.add(i)
		rest = rest[n:]
	}
	return nil
}

// addStored adds the ordinals of a stored set.
func (s *set) addStored(stored []byte) error {
	switch {
	case len(stored) == 0:
		return errDamaged
	case stored[0] == asGaps:
		return s.addGaps(stored)
	case stored[0] != asBitmap || len(stored)-1 > len(s)*8:
		return errDamaged
	}
	rest := stored[1:]
	for i := range s {
		if len(rest) < 8 {
			var last [8]byte
			copy(last[:], rest)
			s[i] |= binary.LittleEndian.Uint64(last[:])
			break
		}
		s[i] |= binary.LittleEndian.Uint64(rest)
		rest = rest[8:]
	}
	return nil
}

// Ordinals returns the posting lists in a row of a block, by their terms: one, or those of
// all tags.
func Ordinals(block int64, term string, stored []byte) (map[string][]int64, error) {
	lists := map[string][]int64{}
	add := func(term string, stored []byte) error {
		var list set
		err := list.addStored(stored)
		for i := list.next(0); i >= 0; i = list.after(i) {
			lists[term] = append(lists[term], block*blockSize+int64(i))
		}
		return err
	}
	if term == tagsTerm {
		return lists, eachTag(stored, add)
	}
	return lists, add(term, stored)
}
