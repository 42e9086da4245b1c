package mail

import (
	"fmt"
	"strings"

	"github.com/wneessen/go-mail/log"
)

// transcript passes the lines of a conversation with the mail server on. The library leaves out passwords.
type transcript struct{ say func(line string) }

// Debugf implements log.Logger.
func (t *transcript) Debugf(l log.Log) {
	mark := "<"
	if l.Direction == log.DirClientToServer {
		mark = ">"
	}
	for line := range strings.Lines(fmt.Sprintf(l.Format, l.Messages...)) {
		t.say(mark + " " + strings.TrimRight(line, "\r\n"))
	}
}

// Infof implements log.Logger.
func (t *transcript) Infof(l log.Log) { t.Debugf(l) }

// Warnf implements log.Logger.
func (t *transcript) Warnf(l log.Log) { t.Debugf(l) }

// Errorf implements log.Logger.
func (t *transcript) Errorf(l log.Log) { t.Debugf(l) }
