"""A metrics page of vLLM's families, wired into a web application as vLLM does it: the instrumentator's own route for
/metrics, which passes over a query, and behind it the mounted exporter, which a slash at the end reaches.

    exporter.py PROCESSES

listens on a free port of 127.0.0.1, prints it, and ends when standard input does. POST /load sets the load, and GET
/cpu tells the CPU seconds of the process. Several processes need PROMETHEUS_MULTIPROC_DIR.
"""

import os
import re
import socket
import sys
import threading
import time

import prometheus_client
import uvicorn
from fastapi import FastAPI, Request, Response
from prometheus_client import Counter, Gauge, Histogram, multiprocess
from prometheus_fastapi_instrumentator import Instrumentator
from starlette.routing import Mount

NAMES = ["model_name", "engine"]
VALUES = ["llama-3.1-8b", "0"]
TOKENS = [base * 10**power for power in range(5) for base in (1, 2, 5)] + [100_000]
SECONDS = [0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680]
SHORT = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560]


def gauge(name):
    mode = {"multiprocess_mode": "mostrecent"}
    return Gauge(f"vllm:{name}", f"What vllm:{name} is, in a sentence.", NAMES, **mode).labels(*VALUES)


def counter(name, *more):
    return Counter(f"vllm:{name}", f"What vllm:{name} is, in a sentence.", NAMES + list(more))


def histogram(name, buckets):
    return Histogram(f"vllm:{name}", f"What vllm:{name} is, in a sentence.", NAMES, buckets=buckets).labels(*VALUES)


running = gauge("num_requests_running")
waiting = gauge("num_requests_waiting")
kv = gauge("kv_cache_usage_perc")
sleep_state = Gauge("vllm:engine_sleep_state", "Whether it sleeps.", NAMES + ["sleep_state"], multiprocess_mode="mostrecent")
for state in ("awake", "weights_offloaded", "discard_all"):
    sleep_state.labels(*VALUES, state).set(1 if state == "awake" else 0)
success = counter("request_success", "finished_reason")
for reason in ("stop", "length", "abort", "error"):
    success.labels(*VALUES, reason)
taken_in = counter("prefix_cache_queries").labels(*VALUES)
answered = counter("prompt_tokens").labels(*VALUES)
for name in (
    "prefix_cache_hits",
    "external_prefix_cache_queries",
    "external_prefix_cache_hits",
    "mm_cache_queries",
    "mm_cache_hits",
    "num_preemptions",
    "generation_tokens",
):
    counter(name).labels(*VALUES)
latency = histogram("e2e_request_latency_seconds", SECONDS)
for name in (
    "request_queue_time_seconds",
    "request_inference_time_seconds",
    "request_prefill_time_seconds",
    "request_decode_time_seconds",
):
    histogram(name, SECONDS).observe(1)
for name in (
    "request_prompt_tokens",
    "request_generation_tokens",
    "iteration_tokens_total",
    "request_max_num_generation_tokens",
    "request_params_n",
    "request_params_max_tokens",
    "request_prefill_kv_computed_tokens",
):
    histogram(name, TOKENS).observe(100)
for name in ("time_to_first_token_seconds", "inter_token_latency_seconds", "request_time_per_output_token_seconds"):
    histogram(name, SHORT).observe(0.05)


def registry():
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return prometheus_client.REGISTRY
    several = prometheus_client.CollectorRegistry()
    multiprocess.MultiProcessCollector(several)
    return several


class MetricsResponse(Response):
    media_type = prometheus_client.CONTENT_TYPE_LATEST


app = FastAPI()
of_all = registry()
instrumentator = Instrumentator(excluded_handlers=["/metrics", "/health"], registry=of_all)
instrumentator.add().instrument(app).expose(app, response_class=MetricsResponse)
mounted = Mount("/metrics", prometheus_client.make_asgi_app(registry=of_all))
mounted.path_regex = re.compile("^/metrics(?P<path>.*)$")
app.routes.append(mounted)


@app.post("/load")
async def load(request: Request):
    load = await request.json()
    running.set(load["running"])
    waiting.set(load["queued"])
    kv.set(load["kv"])
    for _ in range(load["finished"]):
        success.labels(*VALUES, "stop").inc()
        latency.observe(8)
        taken_in.inc(200)
        answered.inc(100)
    return {}


@app.get("/cpu")
async def cpu():
    return time.process_time()


def end_with_standard_input():
    sys.stdin.buffer.read()
    os._exit(0)


def main():
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen(2048)
    print(listening.getsockname()[1], flush=True)
    for _ in range(int(sys.argv[1]) - 1):
        if os.fork() == 0:
            break
    threading.Thread(target=end_with_standard_input, daemon=True).start()
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, timeout_keep_alive=5))
    server.run(sockets=[listening])


main()
