import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from tests.compute import jobs

from simreal.compute.executor import (
    Executor,
    Inline,
    Processes,
    WorkerDiedError,
    in_order,
    make_executor,
)
from simreal.compute.machine import ONE_THREAD
from simreal.core.errors import InterruptedRunError, UsageError


@pytest.fixture(scope="module")
def pool():
    with Processes(2) as executor:
        yield executor


def alive(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


def wait_until_dead(pids: list[int], seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not any(alive(pid) for pid in pids):
            return True
        time.sleep(0.05)
    return False


def test_results_do_not_depend_on_the_workers(pool):
    shards = list(range(9))
    expected = list(in_order(Inline().run(jobs.draw, shards)))
    assert not np.array_equal(expected[0], expected[1])
    with Processes(1) as one, Processes(3) as three:
        for executor in (one, pool, three):
            results = list(in_order(executor.run(jobs.draw, shards)))
            assert all(np.array_equal(a, b) for a, b in zip(expected, results, strict=True))


def test_results_arrive_as_completed_with_their_index_and_can_be_put_in_order(pool):
    completed = list(pool.run(jobs.slow_first, list(range(6))))
    assert [index for index, _ in completed][-1] == 0
    assert all(index == result for index, result in completed)
    assert list(in_order(iter(completed))) == list(range(6))


def test_in_order_gives_each_result_as_soon_as_it_can():
    pulled = []

    def source():
        for index in (1, 0, 2):
            pulled.append(index)
            yield index, index

    results = in_order(source())
    assert next(results) == 0
    assert pulled == [1, 0]


def test_no_payloads_start_no_workers():
    with Processes(2) as executor:
        assert list(executor.run(jobs.draw, [])) == []
        assert executor._workers == []


def test_a_killed_worker_is_replaced_and_its_shard_done_again(pool, tmp_path):
    payloads = [(str(tmp_path), shard) for shard in range(6)]
    assert list(in_order(pool.run(jobs.die_once, payloads))) == list(range(6))
    assert (tmp_path / "died").exists()


def test_a_worker_killed_while_idle_is_replaced(pool):
    list(pool.run(jobs.draw, [0, 1]))
    pool._workers[0].process.kill()
    pool._workers[0].process.wait()
    assert len(list(pool.run(jobs.draw, list(range(4))))) == 4


def test_a_shard_that_kills_two_workers_is_named(pool):
    with pytest.raises(WorkerDiedError, match=r"Shard 3 of 5 .*SIGKILL.*fewer workers"):
        list(pool.run(jobs.always_die, list(range(5))))
    assert list(in_order(pool.run(jobs.slow_first, [0, 1]))) == [0, 1]  # usable afterwards


def test_a_worker_that_exits_is_a_death_too(pool):
    with pytest.raises(WorkerDiedError, match="exit code 5"):
        list(pool.run(jobs.exit_quietly, [0]))


@pytest.mark.parametrize("kind", ["inline", "processes"])
def test_an_error_of_a_job_keeps_its_type_and_text(kind):
    with (
        make_executor(kind) as executor,
        pytest.raises(UsageError, match="shard 4 asks") as caught,
    ):
        list(executor.run(jobs.misuse, [4]))
    if kind == "processes":
        assert "in misuse" in caught.value.__notes__[0]


def test_what_cannot_cross_the_pipe_is_told(pool):
    with pytest.raises(RuntimeError, match="_NotPicklableError: holds a function"):
        list(pool.run(jobs.raise_not_picklable, [0]))
    with pytest.raises(Exception, match=r"pickle|local object"):
        list(pool.run(jobs.return_not_picklable, [0]))


def test_heavy_state_lives_as_long_as_its_worker(pool):
    states = {}
    for _ in range(3):
        for _, (pid, state) in pool.run(jobs.use_heavy_state, list(range(8))):
            states.setdefault(pid, set()).add(state)
    assert all(len(seen) == 1 for seen in states.values())
    assert len({state for seen in states.values() for state in seen}) == len(states) <= 2
    assert os.getpid() not in states


@pytest.mark.parametrize("kind", ["inline", "processes"])
def test_the_initializer_runs_once_a_worker(kind, tmp_path):
    with make_executor(kind, 1, partial(jobs.warm, str(tmp_path))) as executor:
        for _ in range(2):
            list(executor.run(jobs.draw, [0, 1, 2]))
    assert len(list(tmp_path.iterdir())) == 1


def test_an_initializer_that_fails_says_why():
    with (
        Processes(1, jobs.fail_to_start) as executor,
        pytest.raises(UsageError, match="no such device"),
    ):
        list(executor.run(jobs.draw, [0]))


def test_workers_have_one_thread_and_import_neither_torch_nor_lerobot(pool):
    (_, seen), *_ = pool.run(jobs.environment, [0])
    assert {name: seen[name] for name in ONE_THREAD} == ONE_THREAD
    assert not {"torch", "lerobot", "mujoco", "warp"} & set(seen["modules"].split())


def test_cpu_seconds_of_workers_are_counted():
    with Processes(2) as executor:
        list(executor.run(jobs.burn, [0.3, 0.3]))
        assert 0.5 < executor.worker_cpu_s < 1.2
    assert Inline().worker_cpu_s == 0.0


def test_leaving_early_ends_the_work(pool):
    results = pool.run(jobs.slow_first, [1, 0, 1, 0])
    next(results)
    pids = [worker.process.pid for worker in pool._workers if worker.shard is not None]
    results.close()
    assert pids
    assert wait_until_dead(pids)


@pytest.mark.parametrize("kind", ["inline", "processes"])
def test_ctrl_c_in_the_callers_code_becomes_an_interrupted_run(kind):
    def use() -> None:
        with make_executor(kind, 2) as executor:
            for _ in executor.run(jobs.draw, [0, 1, 2]):
                raise KeyboardInterrupt

    with pytest.raises(InterruptedRunError, match="resumed"):
        use()


RUN = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background shell hands down "ignore"
from simreal.compute.executor import Processes
from simreal.core.errors import InterruptedRunError
from tests.compute import jobs
executor = Processes(2)
work = executor.run(jobs.sleep_long, [0, 1, 2, 3])
import threading, time
def tell():
    while len(executor._workers) < 2: time.sleep(.01)
    time.sleep(.5)
    print(*[worker.process.pid for worker in executor._workers], flush=True)
threading.Thread(target=tell, daemon=True).start()
try:
    next(work)
except InterruptedRunError as error:
    print(error, flush=True)
    sys.exit(error.exit_code)
"""


def start_run() -> tuple[subprocess.Popen[str], list[int]]:
    root = Path(__file__).parents[2]
    process = subprocess.Popen(
        [sys.executable, "-c", RUN], stdout=subprocess.PIPE, text=True, cwd=root
    )
    assert process.stdout is not None
    pids = [int(word) for word in process.stdout.readline().split()]
    assert len(pids) == 2
    assert all(alive(pid) for pid in pids)
    return process, pids


def test_ctrl_c_while_waiting_ends_the_workers_and_is_resumable():
    process, pids = start_run()
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=10)
    assert process.returncode == 3
    assert "after 0 of 4 shards" in out
    assert wait_until_dead(pids)


def test_workers_do_not_outlive_a_killed_parent():
    process, pids = start_run()
    process.kill()
    process.communicate(timeout=10)
    assert wait_until_dead(pids)


def test_what_workers_print_stays_out_of_standard_output(capfd, pool):
    list(pool.run(jobs.chatter, [0, 1]))
    with Processes(1) as executor:
        list(executor.run(jobs.chatter, [0]))
    out, err = capfd.readouterr()
    assert out == ""
    assert "a banner of some library" in err


def test_wrong_requests_are_refused():
    with pytest.raises(UsageError, match=r"'clouds'.*allowed: inline, processes"):
        make_executor("clouds")
    with pytest.raises(ValueError, match="1 or more"):
        Processes(0)


def test_close_can_be_called_twice_and_leaves_no_process():
    executor: Executor = Processes(2)
    list(executor.run(jobs.draw, [0, 1, 2]))
    pids = [worker.process.pid for worker in executor._workers]  # type: ignore[attr-defined]
    executor.close()
    executor.close()
    assert pids
    assert wait_until_dead(pids, 1.0)
