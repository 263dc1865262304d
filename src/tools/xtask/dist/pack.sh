# Packs a directory of files to download: an archive of it, and a Debian package where it is for a processor of Debian. The same
# files and the same time give the same bytes: sorted, owned by root, as old as the commit.
# $1 directory, $2 where the files go, $3 version, $4 processor (empty: Windows), $5 seconds since 1970
set -eu
export LC_ALL=C TZ=UTC
files=$1 output=$(realpath "$2") version=$3 architecture=$4 epoch=$5
name=$(basename "$files")
here=$(realpath "$(dirname "$0")")
cd "$files/.."

chmod -R u=rwX,go=rX "$name"
for program in renmei renmei-pairwise renmei-random; do chmod -f 755 "$name/$program" || true; done
find "$name" -exec touch --date="@$epoch" {} +

if [ -z "$architecture" ]; then
    rm -f "$output/$name.zip"
    find "$name" -type f | sort | zip -X -9 -q -@ "$output/$name.zip"
else
    tar --sort=name --owner=0 --group=0 --numeric-owner --use-compress-program='zstd -19' -cf "$output/$name.tar.zst" "$name"

    # The Debian package: the static programs, so that it depends on nothing and fits every release.
    root=$(mktemp -d)
    trap 'rm -rf "$root"' EXIT
    share=$root/usr/share
    install -D -m 755 -t "$root/usr/bin" "$name/renmei" "$name/renmei-pairwise" "$name/renmei-random"
    install -D -m 644 "$name/completions/renmei.bash" "$share/bash-completion/completions/renmei"
    install -D -m 644 -t "$share/zsh/vendor-completions" "$name/completions/_renmei"
    install -D -m 644 -t "$share/fish/vendor_completions.d" "$name/completions/renmei.fish"
    install -D -m 644 -t "$share/man/man1" "$name"/man/*
    gzip -9n "$share"/man/man1/*
    install -D -m 644 "$name/LICENSE-MIT" "$share/doc/renmei/copyright"
    cp -r "$name/LICENSE-APACHE" "$name/LICENSES-of-dependencies.txt" "$name/renmei.cdx.json" "$name/guides" "$name/presets" \
        "$share/doc/renmei"
    install -D -m 644 -t "$share/applications" "$here/renmei.desktop"
    install -D -m 644 "$here/../../../views/web/assets/icon.svg" "$share/icons/hicolor/scalable/apps/renmei.svg"
    while read -r command what; do
        unit=$root/usr/lib/systemd/system/renmei-$command@.service
        install -D -m 644 "$here/renmei@.service" "$unit"
        sed -i -e "s/{command}/$command/" -e "s/{what}/$what/" "$unit"
    done <<UNITS
run event
serve league over the network
floodgate engine on a server
UNITS
    mkdir "$root/DEBIAN"
    cat >"$root/DEBIAN/control" <<CONTROL
Package: renmei
Version: $version
Architecture: $architecture
Maintainer: Renmei developers <renmei@localhost>
Section: games
Priority: optional
Installed-Size: $(du -sk --apparent-size "$root/usr" | cut -f1)
Suggests: bubblewrap, fairy-stockfish, gpsshogi, nats-server
Description: tournament and match-server infrastructure for computer shogi
 Plays USI engines under one referee and one clock, hosts leagues over the
 network by the CSA server protocol, keeps every move in SQLite, and reports
 with error bars which engine is stronger.
CONTROL
    chmod -R u=rwX,go=rX "$root"
    # One thread: how xz cuts its input into blocks depends on their number.
    SOURCE_DATE_EPOCH=$epoch dpkg-deb --build --root-owner-group -Zxz --threads-max=1 "$root" \
        "$output/renmei_${version}_$architecture.deb" >/dev/null
fi

cd "$output"
sha256sum renmei* >SHA256SUMS
ls -sh
