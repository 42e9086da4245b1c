package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// control describes the Debian package.
const control = `Package: gatherkit
Version: %s
Architecture: %s
Maintainer: The Gatherkit authors
Installed-Size: %d
Recommends: ca-certificates
Section: web
Priority: optional
Description: collects feature requests and loses none
 A widget in a product sends feature requests, the service stores them,
 and a dashboard turns them into decisions. It runs on SQLite or PostgreSQL.
`

// postinst makes the user. After an upgrade, when $2 is the version before, it restarts the service if it runs.
const postinst = `#!/bin/sh
set -e
` + addUser + `if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	if [ -n "$2" ]; then systemctl try-restart gatherkit.service; fi
fi
`

// prerm stops the service before its program is removed.
const prerm = `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
	systemctl disable --now gatherkit.service || true
fi
`

// deb writes a Debian package, and needs a folder to work in.
func (r release) deb(ctx context.Context, path, arch, binary, work string) error {
	files, err := r.installed(binary, places{"usr/share/doc/gatherkit/copyright", "usr/share/zsh/vendor-completions/_gatherkit"})
	if err != nil {
		return err
	}
	about := fmt.Sprintf(control, r.sorted(), arch, len(files[executable].text)>>10)
	files["DEBIAN/control"] = content{[]byte(about), 0o644}
	files["DEBIAN/conffiles"] = content{[]byte("/" + settings + "\n"), 0o644}
	files["DEBIAN/postinst"] = content{[]byte(postinst), 0o755}
	files["DEBIAN/prerm"] = content{[]byte(prerm), 0o755}
	root := filepath.Join(work, "deb")
	if err := lay(root, files); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(root) }()
	// The best compression would take five times as long and save an eighth.
	return r.pack(ctx, "dpkg-deb", "--root-owner-group", "-Zxz", "-z1", "--build", root, path)
}
