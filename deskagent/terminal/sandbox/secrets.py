"""Where secrets and doors to other programs lie on a workstation: what no sandboxed process may read."""

from __future__ import annotations

import os
import pwd
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from deskagent import paths
from deskagent.terminal.sandbox.disk import is_dir

# Below the home folder. Names apart by white space; a `*` stands for any part of a name.
_IN_HOME = """
# keys and passwords
.ssh .gnupg .pki .password-store .local/share/keyrings .local/share/kwalletd .kde/share
.config/keepassxc .config/Bitwarden* .config/1Password .1password .op .config/op
.config/sops .config/age .age .authinfo .authinfo.gpg .netrc _netrc .vault-token
# clouds and clusters
.aws .azure .config/gcloud .config/azure .kube .oci .config/doctl .config/hcloud .fly
.config/flyctl .config/linode-cli .config/openstack .terraform.d .terraformrc .pulumi
.s3cfg .config/rclone .boto .config/heroku .config/netlify .config/vercel .wrangler
.config/.wrangler .local/share/com.vercel.cli .minikube .config/helm .databrickscfg
.snowflake .snowsql
# code hosting and registries
.git-credentials .config/git/credentials .config/gh .config/hub .config/glab-cli
.config/tea .config/pip .pip .npmrc .yarnrc .yarnrc.yml .pypirc .config/pypoetry/auth.toml
.gem/credentials .bundle/config .cargo/credentials .cargo/credentials.toml
.m2/settings.xml .m2/settings-security.xml .condarc .gradle/gradle.properties
.composer/auth.json .config/composer/auth.json .nuget/NuGet/NuGet.Config
.docker/config.json .docker/run .docker/desktop .config/containers/auth.json
.hex/hex.config
# models and agents
.cache/huggingface/token .cache/huggingface/stored_tokens .huggingface .kaggle
.config/openai .anthropic .claude .claude.json .codex .gemini .config/github-copilot
.cursor .continue .aider.conf.yml .config/goose .kimi .vibe .config/io.datasette.llm
.config/wandb
# databases
.pgpass .my.cnf .mylogin.cnf .pg_service.conf .config/pgcli .redisclirc .mongorc.js .dbshell
# browsers and mail
.mozilla .thunderbird .librewolf .waterfox .config/google-chrome
.config/google-chrome-beta .config/chromium .config/BraveSoftware .config/microsoft-edge
.config/vivaldi .config/opera .var/app snap/firefox snap/chromium snap/thunderbird
.config/evolution .local/share/evolution .config/Slack .config/discord .config/Signal
.local/share/TelegramDesktop .mutt .msmtprc .fetchmailrc
# what was typed
.bash_history .zsh_history .zhistory .histfile .history .sh_history .python_history
.local/share/fish/fish_history .node_repl_history .psql_history .mysql_history
.sqlite_history .rediscli_history .lesshst .viminfo .local/state/nvim/shada
.config/nushell/history.txt .local/share/atuin .ipython/profile_default/history.sqlite
.zsh_sessions .bash_sessions .irb_history
# screens, agents and engines that take orders
.Xauthority .ICEauthority .dbus .tmux .emacs.d/server .colima .lima .rd .orbstack .vnc
.config/remmina .local/share/remmina .config/filezilla .config/pulse/cookie
.config/syncthing .config/systemd/user/*.env .env .envrc.private
"""

_ON_SYSTEM = """
etc/shadow etc/shadow- etc/gshadow etc/gshadow- etc/security/opasswd etc/sudoers
etc/sudoers.d etc/ssh/ssh_host_*_key etc/ssl/private etc/pki/tls/private
etc/krb5.keytab etc/docker/key.json etc/NetworkManager/system-connections
etc/wpa_supplicant etc/wireguard etc/openvpn etc/letsencrypt etc/kubernetes
etc/rancher etc/cloud var/lib/cloud var/lib/kubelet var/lib/docker
var/lib/containerd var/lib/containers var/lib/NetworkManager var/lib/iwd
var/lib/bluetooth var/lib/sss var/lib/samba/private var/lib/lxd/unix.socket
var/snap/lxd/common/lxd/unix.socket var/backups var/mail var/spool/mail
var/spool/cron var/log
"""


def secret_paths(env: Mapping[str, str], extra: Iterable[Path] = ()) -> tuple[Path, ...]:
    """The secrets that exist on this machine, as real paths, sorted.

    Every home counts that a process could take for its own: the user's, ours, and `env["HOME"]` of the
    command. Deskagent's settings and sessions count too. Where a secret is a symbolic link, what it points to
    is given; where its file system is mounted at other places too, those are given as well. Files of the
    system that this user can't read anyway are left out.
    """
    found: set[Path] = set()
    for home in _homes(env):
        for name in _names(_IN_HOME):
            found.update(_matches(home, name))
    for name in _names(_ON_SYSTEM):
        found.update(path for path in _matches(Path("/"), name) if _readable(path))
    for path in (paths.config_dir(), paths.data_dir(), *extra):
        found.update(_matches(path.parent, path.name))
    found -= {Path("/")}
    return tuple(sorted(found | set(_elsewhere(found))))


def _names(table: str) -> Iterator[str]:
    for line in table.splitlines():
        if not line.startswith("#"):
            yield from line.split()


def _homes(env: Mapping[str, str]) -> set[Path]:
    named = [env.get("HOME"), os.environ.get("HOME")]
    try:
        named.append(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:  # a user without an entry, as in some containers
        pass
    homes = {Path(os.path.realpath(name)) for name in named if name and name.startswith("/")}
    return homes - {Path("/")}


def _matches(folder: Path, name: str) -> Iterator[Path]:
    names = folder.glob(name) if "*" in name else (folder / name,)
    for path in names:
        try:
            path.lstat()
            yield Path(os.path.realpath(path, strict=True))
        except OSError:  # absent, dangling, or in a folder that nobody may enter
            continue


def _readable(path: Path) -> bool:
    return os.access(path, os.R_OK) or (is_dir(path) and os.access(path, os.X_OK))


def host_sockets() -> tuple[Path, ...]:
    """Unix sockets that programs of this machine have by path: a read-only file system doesn't guard them."""
    try:
        lines = Path("/proc/net/unix").read_text("utf-8", "surrogateescape").splitlines()[1:]
    except OSError:
        return ()
    fields = (line.split(None, 7) for line in lines)
    names = {field[7] for field in fields if len(field) == 8 and not field[7].startswith("@")}
    folders = _working_folders() if any(not name.startswith("/") for name in names) else ()
    found: set[Path] = set()
    for name in names:
        for folder in (Path("/"),) if name.startswith("/") else folders:
            path = Path(os.path.realpath(folder / name))
            try:
                if stat.S_ISSOCK(path.lstat().st_mode):
                    found.add(path)
            except OSError:  # its file is gone
                continue
    return tuple(sorted(found))


def _working_folders() -> set[Path]:
    """Where this user's processes are: a socket that was made by a relative name lies in one of them."""
    found: set[Path] = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            found.add((process / "cwd").readlink())
        except OSError:  # somebody else's, or gone
            continue
    return found


def _elsewhere(found: Iterable[Path]) -> Iterator[Path]:
    """The same files through other mounts of their file systems (bind mounts, btrfs top levels)."""
    mounts = _mounts()
    by_point = {point: (device, root) for device, root, point in mounts}
    for path in found:
        above = next((p for p in (path, *path.parents) if p in by_point), None)
        if above is None:
            continue
        device, root = by_point[above]
        inside = root / path.relative_to(above)
        for other_device, other_root, point in mounts:
            if other_device == device and point != above and inside.is_relative_to(other_root):
                same = point / inside.relative_to(other_root)
                try:
                    if same.samefile(path):
                        yield same
                except OSError:
                    continue


def _mounts() -> list[tuple[str, Path, Path]]:
    """(device, root within it, mount point) of every mount, later ones last."""
    try:
        lines = Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return []
    rows = [line.split(" ", 5) for line in lines]
    return [(row[2], Path(_unescape(row[3])), Path(_unescape(row[4]))) for row in rows if len(row) == 6]


def _unescape(text: str) -> str:
    for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, char)
    return text
