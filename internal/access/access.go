//go:build unix

// Package access says why the files that an operator names cannot be used, in words that name the
// file, its owner and what to do. The errors of SQLite and of the system do not.
package access

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// The rights that access(2) asks for. Enter is to use what is in a folder.
const (
	read  = 4
	write = 2
	enter = 1
)

// Check returns an error for the first of the paths that this process may not read and write. A
// path that does not exist is one that the process may create.
func Check(paths ...string) error {
	for _, path := range paths {
		path, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		if err := check(path); err != nil {
			return err
		}
	}
	return nil
}

func check(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return checkParent(path)
	}
	if errors.Is(err, syscall.ENOTDIR) {
		return fmt.Errorf("a part of the path %s is a file and not a folder", path)
	}
	if err != nil {
		return err
	}
	mode := uint32(read | write)
	if info.IsDir() {
		mode |= enter
	}
	switch err := syscall.Access(path, mode); {
	case err == nil:
		return nil
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%s is on a disk that is mounted read-only", path)
	case ownerOf(info) == os.Geteuid():
		return fmt.Errorf("the owner of %s, %s, may not read and write it; run chmod u+rwX %s", path, nameOf(ownerOf(info)), path)
	case ownerOf(info) == 0:
		return fmt.Errorf("%s belongs to root, but gatherkit runs as %s; run chown -R %s %[1]s",
			path, nameOf(os.Geteuid()), argumentFor(os.Geteuid()))
	default:
		return fmt.Errorf("%s belongs to %s, but gatherkit runs as %s; run it as %[2]s", path, nameOf(ownerOf(info)), nameOf(os.Geteuid()))
	}
}

// checkParent checks whether the process may create a path that does not exist, with the folders
// above it.
func checkParent(path string) error {
	parent := filepath.Dir(path)
	_, err := os.Stat(parent)
	for errors.Is(err, os.ErrNotExist) {
		parent = filepath.Dir(parent)
		_, err = os.Stat(parent)
	}
	if err != nil {
		return err
	}
	switch err := syscall.Access(parent, write|enter); {
	case err == nil:
		return nil
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%s does not exist, and %s is on a disk that is mounted read-only", path, parent)
	default:
		return fmt.Errorf("%s does not exist, and %s may not create it in %s; run install -d -m 0700 -o %s %[1]s",
			path, nameOf(os.Geteuid()), parent, argumentFor(os.Geteuid()))
	}
}

// ownerOf returns the user id of a file's owner.
func ownerOf(info os.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Uid) }

// nameOf returns the name of a user for a sentence, or the id if it has no name, as in a container.
func nameOf(id int) string {
	name := argumentFor(id)
	if name == strconv.Itoa(id) {
		return "user " + name
	}
	return name
}

// argumentFor returns the name of a user for a command, or the id if it has no name.
func argumentFor(id int) string {
	if found, err := user.LookupId(strconv.Itoa(id)); err == nil {
		return found.Username
	}
	return strconv.Itoa(id)
}
