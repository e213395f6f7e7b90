"""How work is carried out: stages, jobs, engines, the planner, memory, devices."""

from largeea.execution.settings import Execution, current, executing

__all__ = ["Execution", "current", "executing"]
