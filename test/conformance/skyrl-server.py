"""Starts SkyRL's server with Tinker's API from PyPI's package, on a CPU.

Two things that the package does not manage by itself: it starts its engine with `uv run`, which needs a project's folder,
and its types use typing.TypedDict with pydantic, which needs Python 3.12 although it asks for 3.11.
"""

import argparse
import runpy
import sys
import typing

import typing_extensions

typing.TypedDict = typing_extensions.TypedDict
if sys.argv[1:2] == ["engine"]:
    sys.argv = sys.argv[1:]
    runpy.run_module("skyrl.tinker.engine", run_name="__main__", alter_sys=True)
    sys.exit()

import uvicorn
from skyrl.tinker import api
from skyrl.tinker.config import EngineConfig, add_model, config_to_argv

api._build_uv_run_cmd_engine = lambda parent, config: [sys.executable, __file__, "engine", *config_to_argv(config)]
parser = argparse.ArgumentParser()
add_model(parser, EngineConfig)
parser.add_argument("--port", type=int)
args = parser.parse_args()
known = {key: value for key, value in vars(args).items() if key in EngineConfig.model_fields}
api.app.state.engine_config = EngineConfig.model_validate(known)
uvicorn.run(api.app, host="127.0.0.1", port=args.port)
