#!/bin/sh
# Runs Firefox so that it ends when its parent does, even if that is killed.
exec setpriv --pdeathsig KILL "$FIREFOX" "$@"
