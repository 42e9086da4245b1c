package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"os"
)

// file is a file of an archive.
type file struct {
	path string // where it is
	name string // in the archive
	mode int64
}

// tar writes an archive of files, which belong to root.
func (r release) tar(path string, files []file) (err error) {
	out, err := os.Create(path) //nolint:gosec // in the folder of the release
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	packed, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(packed)
	for _, f := range files {
		content, err := os.ReadFile(f.path)
		if err != nil {
			return err
		}
		if err := r.add(archive, tar.Header{Name: f.name, Mode: f.mode}, content); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), packed.Close())
}

// add adds a file or, without content, a folder to an archive.
func (r release) add(archive *tar.Writer, head tar.Header, content []byte) error {
	head.Size, head.ModTime, head.Format = int64(len(content)), r.time, tar.FormatUSTAR
	if err := archive.WriteHeader(&head); err != nil {
		return err
	}
	_, err := archive.Write(content)
	return err
}

// zip writes an archive of files for Windows.
func (r release) zip(path string, files []file) (err error) {
	out, err := os.Create(path) //nolint:gosec // in the folder of the release
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	archive := zip.NewWriter(out)
	for _, f := range files {
		head := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: r.time}
		head.SetMode(os.FileMode(f.mode)) //nolint:gosec // permissions
		to, err := archive.CreateHeader(head)
		if err != nil {
			return err
		}
		content, err := os.Open(f.path)
		if err != nil {
			return err
		}
		if _, err := io.Copy(to, content); err != nil {
			return errors.Join(err, content.Close())
		}
		if err := content.Close(); err != nil {
			return err
		}
	}
	return archive.Close()
}
