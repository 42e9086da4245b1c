package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// authorities matches the certificates of Debian's package ca-certificates. The file that Debian makes from them would
// also have those which the administrator of this machine has added.
const authorities = "/usr/share/ca-certificates/mozilla/*.crt"

// nobody is the user in a container. It has no name there, and no rights on the machine.
const nobody = 65532

// image writes a container image with nothing but the program and what it needs, in the format of docker save. That of
// OCI has no place for the health check.
func (r release) image(path, arch, binary string) error {
	layer, err := r.layer(binary)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	to, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := to.Write(layer); err != nil {
		return err
	}
	if err := to.Close(); err != nil {
		return err
	}
	config, err := json.Marshal(r.config(arch, layer))
	if err != nil {
		return err
	}
	manifest, err := json.Marshal([]any{map[string]any{
		"Config": "config.json", "Layers": []string{"layer.tar.gz"}, "RepoTags": []string{"gatherkit:" + r.version},
	}})
	if err != nil {
		return err
	}
	var all bytes.Buffer
	archive := tar.NewWriter(&all)
	err = errors.Join(
		r.add(archive, tar.Header{Name: "manifest.json", Mode: 0o644}, manifest),
		r.add(archive, tar.Header{Name: "config.json", Mode: 0o644}, config),
		r.add(archive, tar.Header{Name: "layer.tar.gz", Mode: 0o644}, packed.Bytes()),
		archive.Close(),
	)
	if err != nil {
		return err
	}
	return os.WriteFile(path, all.Bytes(), 0o644) //nolint:gosec // everybody may read it
}

// layer returns the files of an image as an archive.
func (r release) layer(binary string) ([]byte, error) {
	built, err := os.ReadFile(binary) //nolint:gosec // that was just built
	if err != nil {
		return nil, err
	}
	paths, err := filepath.Glob(authorities)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, errors.New("there are no certificates; install ca-certificates")
	}
	slices.Sort(paths)
	var certificates []byte
	for _, path := range paths {
		certificate, err := os.ReadFile(path) //nolint:gosec // of Debian's package
		if err != nil {
			return nil, err
		}
		certificates = append(certificates, certificate...)
	}
	var all bytes.Buffer
	archive := tar.NewWriter(&all)
	err = errors.Join(
		r.add(archive, tar.Header{Name: "data/", Typeflag: tar.TypeDir, Mode: 0o700, Uid: nobody, Gid: nobody}, nil),
		r.add(archive, tar.Header{Name: "etc/ssl/certs/ca-certificates.crt", Mode: 0o644}, certificates),
		r.add(archive, tar.Header{Name: "gatherkit", Mode: 0o755}, built),
		r.add(archive, tar.Header{Name: "tmp/", Typeflag: tar.TypeDir, Mode: 0o1777}, nil),
		archive.Close(),
	)
	return all.Bytes(), err
}

// config returns how to run an image (https://github.com/moby/docker-image-spec).
func (r release) config(arch string, layer []byte) map[string]any {
	sum := sha256.Sum256(layer)
	return map[string]any{
		"created": r.time, "os": "linux", "architecture": arch,
		"rootfs":  map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + hex.EncodeToString(sum[:])}},
		"history": []any{map[string]any{"created": r.time, "created_by": "gatherkit/release"}},
		"config": map[string]any{
			"User":       "65532:65532",
			"Env":        []string{"GATHERKIT_LISTEN=:8080", "GATHERKIT_DATA=/data"},
			"Entrypoint": []string{"/gatherkit"}, "Cmd": []string{"serve"},
			"Volumes":      map[string]any{"/data": struct{}{}},
			"ExposedPorts": map[string]any{"8080/tcp": struct{}{}},
			"Healthcheck": map[string]any{
				"Test": []string{"CMD", "/gatherkit", "healthcheck"}, "Interval": 30 * time.Second, "Timeout": 5 * time.Second,
				"StartPeriod": 10 * time.Second, "Retries": 3,
			},
			"Labels": map[string]string{
				"org.opencontainers.image.title": "Gatherkit", "org.opencontainers.image.version": r.version,
				"org.opencontainers.image.licenses": "Apache-2.0",
			},
		},
	}
}
