"""The library on systems without what only POSIX has, as far as Linux can tell."""

import subprocess
import sys

# imports all modules where Python looks as it does on Windows; packages of others come
# first, since they look for themselves
PROGRAM = """
import importlib, os, pkgutil, signal, sys
import joblib, numpy, pandas, scipy.sparse, sklearn.cluster, threadpoolctl
import concurrent.futures, multiprocessing.connection, subprocess, tempfile

for name in ("fcntl", "grp", "pwd", "resource", "termios", "tty", "pty", "syslog"):
    sys.modules[name] = None
for module, names in {
    os: "fork forkpty getuid geteuid getgid getppgid mkfifo sysconf register_at_fork "
    "sched_getaffinity O_NONBLOCK O_NOFOLLOW O_CLOEXEC chown fchmod setsid wait4",
    signal: "SIGHUP SIGPIPE SIGUSR1 SIGALRM SIGKILL pthread_sigmask pthread_kill alarm "
    "setitimer sigwait",
}.items():
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)

import rtkm

for module in pkgutil.walk_packages(rtkm.__path__, "rtkm."):
    if module.name != "rtkm.__main__":
        importlib.import_module(module.name)
for name in rtkm.__all__:
    getattr(rtkm, name)
X = numpy.random.default_rng(0).normal(size=(60, 2))
model = rtkm.RTKM(2, contamination=0.1, random_state=0).fit(X)
path = sys.argv[1]
model.save(path)
assert (rtkm.load(path).predict(X) == model.predict(X)).all()
"""


def test_modules_need_nothing_that_only_posix_has(tmp_path):
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "model.rtkm")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
