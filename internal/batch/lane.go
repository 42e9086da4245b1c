package batch

import "container/list"

// lane holds the waiting members of a key. Those whose work it is take turns (round robin).
type lane[Q, R any] struct {
	of    map[[16]byte]*queue
	turns list.List // of *queue, the next one first
}

// queue holds the members of one of those who take turns.
type queue struct {
	members list.List // of *member, in the order of their arrival
	turn    *list.Element
}

func newLane[Q, R any]() *lane[Q, R] { return &lane[Q, R]{of: map[[16]byte]*queue{}} }

// add appends a member to those of its owner, who gets the last turn unless others of their members wait.
func (l *lane[Q, R]) add(m *member[Q, R]) {
	m.place = l.queueOf(m.who).members.PushBack(m)
}

// putBack makes a member the next one.
func (l *lane[Q, R]) putBack(m *member[Q, R]) {
	q := l.queueOf(m.who)
	l.turns.MoveToFront(q.turn)
	m.place = q.members.PushFront(m)
}

// queueOf returns the queue of a who. A new one gets the last turn.
func (l *lane[Q, R]) queueOf(who [16]byte) *queue {
	q := l.of[who]
	if q == nil {
		q = &queue{}
		q.turn, l.of[who] = l.turns.PushBack(q), q
	}
	return q
}

// next removes and returns the next member, or nil if none waits.
func (l *lane[Q, R]) next() *member[Q, R] {
	first := l.turns.Front()
	if first == nil {
		return nil
	}
	m := first.Value.(*queue).members.Front().Value.(*member[Q, R])
	l.turns.MoveToBack(first)
	l.remove(m)
	return m
}

// remove removes a member, in constant time.
func (l *lane[Q, R]) remove(m *member[Q, R]) {
	q := l.of[m.who]
	q.members.Remove(m.place)
	m.place = nil
	if q.members.Len() == 0 {
		l.turns.Remove(q.turn)
		delete(l.of, m.who)
	}
}

// empty reports whether no member waits.
func (l *lane[Q, R]) empty() bool { return l.turns.Len() == 0 }
