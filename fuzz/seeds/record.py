import argparse
import time
from dataclasses import dataclass
from typing import List, Optional


@dataclass
class ServerArgs:
    model_path: str
    wait: float = 5.0
    pool: int = 0
    policy: str = "lru"
    ports: Optional[List[int]] = None

    def __post_init__(self):
        if self.pool < 0:
            raise ValueError("the pool must not be negative")
        if self.policy == "off" and self.pool > 0:
            self.pool = 0

    @staticmethod
    def add_cli_args(parser: argparse.ArgumentParser):
        parser.add_argument("--model-path", type=str, required=True, help="The model.")
        parser.add_argument("--wait", type=float, default=ServerArgs.wait, help="How long.")
        parser.add_argument("--pool", type=int, default=ServerArgs.pool, help="The pool in GB.")
        parser.add_argument("--policy", choices=["lru", "off"], default=ServerArgs.policy)
        parser.add_argument("--ports", type=int, nargs="+")


class Pool:
    def __init__(self, server_args: ServerArgs, host_size: int):
        self.size = int(host_size * 1e9 // 8)
        time.sleep(server_args.wait)


def start(server_args: ServerArgs):
    return Pool(server_args, server_args.pool)
