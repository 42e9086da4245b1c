package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// file is what the file with the login contains.
type file struct {
	URL   string `json:"url"`
	Token string `json:"token"`
}

// Place returns the path of the file with the login: gatherkit/login.json in the user's folder for settings.
func Place() (string, error) {
	folder, err := os.UserConfigDir()
	return filepath.Join(folder, "gatherkit", "login.json"), err
}

// Save stores the address and the token of a service in a file that only the user can read.
func (s Service) Save(path string) error {
	text, err := json.Marshal(file{s.URL, s.Token})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	// A new file, because an old one keeps its permissions.
	made, err := os.CreateTemp(filepath.Dir(path), "login-*")
	if err != nil {
		return err
	}
	_, err = made.Write(text)
	if err = errors.Join(err, made.Close()); err == nil {
		err = os.Rename(made.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(made.Name()))
	}
	return nil
}

// Load returns the service of a file that Save has written, or an empty one if there is no file.
func Load(path string) (Service, error) {
	text, err := os.ReadFile(path) //nolint:gosec // the path of Place
	if errors.Is(err, fs.ErrNotExist) {
		return Service{}, nil
	}
	var in file
	if err == nil {
		err = json.Unmarshal(text, &in)
	}
	if err != nil {
		return Service{}, fmt.Errorf("cannot read the login; run gatherkit login again: %w", err)
	}
	return Service{URL: in.URL, Token: in.Token}, nil
}
