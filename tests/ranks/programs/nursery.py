"""Start ranks of a job as forks of one process that has torch imported: what takes a second a rank otherwise takes some milliseconds.

Reads jobs from standard input, a JSON object a line: {"program", "environ": [of each rank], "outputs": [[stdout, stderr] of each rank],
"grace": seconds between the first failure and the end of the others, "deadline": seconds}. Answers each with how its ranks ended:
[[status, seconds], …]. The ranks are real processes with real gloo; a traceback reads as the interpreter's own.
"""

import json
import os
import signal
import sys
import threading
import time

import torch
import torch.distributed  # what the forks need


def become(program, environ, outputs):
    """Be one rank; never returns."""
    os.setpgid(0, 0)
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"):
        os.environ.pop(name, None)
    os.environ.update(environ)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    for number, path in zip((1, 2), outputs):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644), number)
    sys.stdout = open(1, "w", closefd=False)
    sys.stderr = open(2, "w", closefd=False)
    torch.set_num_threads(1)
    status = 0
    try:
        sys.argv = [program]
        with open(program) as stream:
            code = compile(stream.read(), program, "exec")
        sys.modules["__main__"].__dict__.update({"__name__": "__main__", "__file__": program})
        exec(code, sys.modules["__main__"].__dict__)
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 1 if ended.code else 0
    except BaseException:
        kind, error, trace = sys.exc_info()
        sys.excepthook(kind, error, trace.tb_next)  # without this file's own frame
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def run(job, lock):
    """Start the ranks of a job and wait for their ends."""
    started = time.monotonic()
    with lock:
        ranks = {}
        for rank, (environ, outputs) in enumerate(zip(job["environ"], job["outputs"])):
            pid = os.fork()
            if pid == 0:
                become(job["program"], environ, outputs)
            ranks[pid] = rank
    ends = {}
    failed_at = None
    asked = False
    while len(ends) < len(ranks):
        for pid, rank in ranks.items():
            if rank in ends:
                continue
            found, status = os.waitpid(pid, os.WNOHANG)
            if found:
                code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
                ends[rank] = (code, time.monotonic() - started)
                if code and failed_at is None:
                    failed_at = time.monotonic()
        now = time.monotonic()
        late = failed_at is not None and now - failed_at > job["grace"]
        if (late or now - started > job["deadline"]) and not asked:
            asked = True
            failed_at = failed_at or now
            for pid, rank in ranks.items():
                if rank not in ends:
                    os.kill(pid, signal.SIGTERM)
        if asked and now - failed_at > job["grace"] + 2:
            for pid, rank in ranks.items():
                if rank not in ends:
                    os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)
    return [ends[rank] for rank in range(len(ranks))]


def main():
    lock = threading.Lock()
    answers = threading.Lock()

    def serve(line):
        job = json.loads(line)
        found = run(job, lock)
        with answers:
            print(json.dumps({"id": job["id"], "ends": found}), flush=True)

    for line in sys.stdin:
        threading.Thread(target=serve, args=(line,), daemon=False).start()


if __name__ == "__main__":
    main()
