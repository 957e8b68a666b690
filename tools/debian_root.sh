# shellcheck shell=bash
# A clean Debian 12 in a folder of its own, made by debootstrap from the package sources of this machine; needs root.
# Sourced: make_debian_root LOG makes the folder $root and removes it when the script ends; inside COMMAND... runs in it.

make_debian_root() {
    local log=$1 mirror proxy
    if [ "$(id -u)" -ne 0 ]; then
        echo "$(basename "$0" .sh): a chroot needs root: sudo $0" >&2
        exit 2
    fi
    command -v debootstrap >/dev/null || { echo "$(basename "$0" .sh): debootstrap is missing: run make setup-package" >&2; exit 2; }
    # The first address of the package sources, and how apt reaches it.
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Codename: bookworm' | head -n 1)
    proxy=$(apt-config shell proxy Acquire::http::Proxy | sed "s/^proxy='\(.*\)'$/\1/")
    [ -n "$mirror" ] || { echo "$(basename "$0" .sh): the package sources of this machine have no Debian 12" >&2; exit 1; }

    root=$(mktemp -d)
    chmod 755 "$root"
    trap remove_debian_root EXIT
    http_proxy=${http_proxy:-$proxy} debootstrap --variant=minbase bookworm "$root" "$mirror" >"$log" 2>&1 ||
        { tail -n 20 "$log" >&2; exit 1; }
    mount -t proc proc "$root/proc"
    cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
    # The certificates that this machine trusts, for npm, in a file that the package ca-certificates does not replace;
    # dpkg need not wait for the disk in a folder that is thrown away.
    cat /etc/ssl/certs/ca-certificates.crt "${NODE_EXTRA_CA_CERTS:-/dev/null}" >"$root/etc/host-certificates.crt" 2>/dev/null || true
    echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io"
    [ -z "$proxy" ] || echo "Acquire::http::Proxy \"$proxy\";" >"$root/etc/apt/apt.conf.d/90proxy"
    inside apt-get -q update >>"$log"
}

remove_debian_root() {
    umount "$root/proc" 2>/dev/null || true
    rm -rf --one-file-system "$root"
}

inside() {
    chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        NODE_EXTRA_CA_CERTS=/etc/host-certificates.crt "$@"
}
