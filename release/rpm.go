package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// spec describes the package for Fedora, Red Hat and SUSE. In the scripts, $1 is how many versions are installed afterwards.
const spec = `Name: gatherkit
Version: %s
Release: 1
Summary: Collects feature requests and loses none
License: Apache-2.0
Requires(pre): /usr/sbin/useradd
Recommends: ca-certificates
AutoReqProv: no

%%description
A widget in a product sends feature requests, the service stores them,
and a dashboard turns them into decisions. It runs on SQLite or PostgreSQL.

%%install
cp -R %s/. %%{buildroot}

%%pre
` + addUser + `
%%post
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	if [ "$1" -gt 1 ]; then systemctl try-restart gatherkit.service; fi
fi

%%preun
if [ "$1" = 0 ] && [ -d /run/systemd/system ]; then
	systemctl disable --now gatherkit.service || true
fi

%%files
%%defattr(-, root, root)
%%dir /etc/gatherkit
%%config(noreplace) /` + settings + `
/usr/bin/gatherkit
/usr/lib/systemd/system/gatherkit.service
/usr/share/man/man1/gatherkit.1
/usr/share/bash-completion/completions/gatherkit
/usr/share/zsh/site-functions/_gatherkit
/usr/share/fish/vendor_completions.d/gatherkit.fish
%%dir /usr/share/licenses/gatherkit
%%license /usr/share/licenses/gatherkit/LICENSE
%%doc /usr/share/doc/gatherkit
`

// machines are the names that rpm has for processors.
var machines = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

// rpm writes a package for rpm, and needs a folder to work in.
func (r release) rpm(ctx context.Context, path, machine, binary, work string) error {
	files, err := r.installed(binary, places{"usr/share/licenses/gatherkit/LICENSE", "usr/share/zsh/site-functions/_gatherkit"})
	if err != nil {
		return err
	}
	work = filepath.Join(work, "rpm")
	defer func() { _ = os.RemoveAll(work) }()
	root, about := filepath.Join(work, "root"), filepath.Join(work, "gatherkit.spec")
	if err := lay(root, files); err != nil {
		return err
	}
	if err := lay(work, map[string]content{"gatherkit.spec": {fmt.Appendf(nil, spec, r.sorted(), root), 0o644}}); err != nil {
		return err
	}
	path, err = filepath.Abs(path)
	if err != nil {
		return err
	}
	args := []string{"-bb", "--quiet", "--target", machine + "-linux"}
	for _, define := range []string{
		"_topdir " + work, "_rpmdir " + filepath.Dir(path), "_rpmfilename " + filepath.Base(path),
		// The same bytes on every machine and at any time.
		"_buildhost gatherkit", "use_source_date_epoch_as_buildtime 1", "clamp_mtime_to_source_date_epoch 1",
		"_binary_payload w12.zstdio", // which rpm reads since version 4.14
		// The program is finished: nothing is stripped, compressed or linked to it.
		"debug_package %{nil}", "__os_install_post %{nil}", "_build_id_links none",
	} {
		args = append(args, "--define", define)
	}
	return r.pack(ctx, "rpmbuild", append(args, about)...)
}
