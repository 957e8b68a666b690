"""Environments for learning, with the interface of Gymnasium.

Where gymnasium is installed, Env inherits from its Env and the spaces are its own; otherwise from small classes with the same
attributes. Observations are columns of probes, actions set points of motors, both by name.

>>> import rattleback as rb
>>> scene = rb.Scene(step={"step": 0.01})
>>> arm = scene.add_body(rb.Shape.box((1, 0.1, 0.1)), name="arm", position=(0.5, 0, 0))
>>> _ = scene.add_joint("hinge", None, arm, name="j", anchor=(0, 0, 0), axis=(0, 1, 0),
...                     motor={"type": "speed", "gain": 50, "forceMax": 100})
>>> scene.add_probe("angle", joint="j"); scene.add_probe("speed", joint="j")
>>> env = Env(scene, actions={"j": (-5.0, 5.0)}, reward=lambda world, observation: -observation[0] ** 2, steps_max=100)
>>> observation, info = env.reset(seed=1)
>>> observation, reward, terminated, truncated, info = env.step([1.0])
>>> observation.shape, terminated, truncated
((2,), False, False)
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Optional

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._convert import FloatArray, array, pointer
from ._native import lib
from .errors import InvalidError, NotFoundError, RattlebackError
from .many import step_all
from .scene import Scene
from .world import World

try:
    import gymnasium
    from gymnasium.spaces import Box

    _Base: Any = gymnasium.Env
except ImportError:
    gymnasium = None

    class Box:  # type: ignore[no-redef]
        """A box of numbers, as of Gymnasium: low, high, shape, dtype, sample, contains.

        >>> Box(-1.0, 1.0, shape=(2,)).contains(np.zeros(2))
        True
        """

        def __init__(self, low: Any, high: Any, shape: Optional[tuple[int, ...]] = None, dtype: Any = np.float64) -> None:
            self.shape = shape if shape is not None else np.shape(low)
            self.dtype = np.dtype(dtype)
            self.low = np.broadcast_to(np.asarray(low, dtype=dtype), self.shape)
            self.high = np.broadcast_to(np.asarray(high, dtype=dtype), self.shape)
            self._random = np.random.default_rng()

        def seed(self, seed: Optional[int] = None) -> None:
            """Seeds sample().

            >>> Box(-1.0, 1.0, shape=(2,)).seed(1)
            """
            self._random = np.random.default_rng(seed)

        def sample(self) -> NDArray[Any]:
            """A random element.

            >>> Box(-1.0, 1.0, shape=(2,)).sample().shape
            (2,)
            """
            low, high = np.maximum(self.low, -1e6), np.minimum(self.high, 1e6)
            return np.asarray(self._random.uniform(low, high), dtype=self.dtype)

        def contains(self, x: Any) -> bool:
            """Whether x is an element.

            >>> Box(-1.0, 1.0, shape=(2,)).contains(np.full(2, 3.0))
            False
            """
            value = np.asarray(x)
            return value.shape == self.shape and bool(np.all(value >= self.low) and np.all(value <= self.high))

    _Base = object


Reward = Callable[[World, FloatArray], float]
Condition = Callable[[World, FloatArray], bool]
Randomize = Callable[[World, np.random.Generator], Any]


class _Task:
    """What Env and VectorEnv share: how observations, rewards and ends follow from a world."""

    def __init__(self, scene: Scene, actions: Mapping[str, tuple[float, float]], observations: Optional[Sequence[str]],
                 reward: Optional[Reward], terminated: Optional[Condition], randomize: Optional[Randomize], frame_skip: int,
                 steps_max: Optional[int]) -> None:
        self.scene, self.reward, self.terminated, self.randomize = scene, reward, terminated, randomize
        self.frame_skip, self.steps_max = frame_skip, steps_max
        self.columns = scene.columns
        wanted = list(observations) if observations is not None else self.columns
        unknown = [name for name in wanted if name not in self.columns]
        if unknown:
            raise NotFoundError(f"there is no column {unknown[0]!r} among the probes; there are {', '.join(self.columns)}")
        self.chosen = [self.columns.index(name) for name in wanted]
        self.motors = list(actions)
        bounds = np.array([actions[name] for name in self.motors], dtype=np.float64).reshape(-1, 2)
        if not (bounds[:, 0] < bounds[:, 1]).all():
            raise InvalidError("each action needs bounds (low, high) with low < high")
        self.low, self.high = bounds[:, 0], bounds[:, 1]

    def observe(self, world: World) -> FloatArray:
        values = np.empty(len(self.columns))
        lib.rbScene_EvaluateProbes(world.scene._handle(), world._native(), pointer(values), len(values))
        return values[self.chosen]

    def act(self, world: World, action: FloatArray) -> None:
        for name, value in zip(self.motors, action):
            world.joint(name).set_motor_target(float(value))

    def clip(self, action: ArrayLike, shape: tuple[int, ...]) -> FloatArray:
        found: FloatArray = np.clip(array(action, shape, "the action"), self.low, self.high)
        return found

    def judge(self, world: World, steps: int) -> tuple[FloatArray, float, bool, bool]:
        observation = self.observe(world)
        reward = float(self.reward(world, observation)) if self.reward is not None else 0.0
        terminated = bool(self.terminated(world, observation)) if self.terminated is not None else False
        return observation, reward, terminated, self.steps_max is not None and steps >= self.steps_max


class Env(_Base):  # type: ignore[misc]
    """A scene as an environment.

    actions: {joint: (low, high)}, set points of their motors (clipped to the bounds); observations: names of probe columns
    (default: all); reward and terminated: functions of the world and the observation; randomize: a function of the world and a
    random generator, called at every reset; frame_skip: steps of dt for an action; steps_max: actions until truncation.
    Resets are deterministic: the same seed gives the same bits.

    >>> import rattleback as rb
    >>> Env(rb.Scene.example("pendulum"), actions={}).reset(seed=0)[1]
    {}
    """

    metadata: dict[str, Any] = {"render_modes": []}
    render_mode: Optional[str] = None
    spec: Any = None

    def __init__(self, scene: Scene, actions: Mapping[str, tuple[float, float]], *,
                 observations: Optional[Sequence[str]] = None, reward: Optional[Reward] = None,
                 terminated: Optional[Condition] = None, randomize: Optional[Randomize] = None, frame_skip: int = 1,
                 steps_max: Optional[int] = None) -> None:
        self._task = _Task(scene, actions, observations, reward, terminated, randomize, frame_skip, steps_max)
        self.world = scene.world()
        for name in self._task.motors:
            self.world.joint(name)
        self._start = self.world.snapshot()
        self.action_space = Box(self._task.low, self._task.high, dtype=np.float64)
        count = len(self._task.chosen)
        self.observation_space = Box(-np.inf, np.inf, shape=(count,), dtype=np.float64)
        self._random = np.random.default_rng()
        self._steps: Optional[int] = None

    def reset(self, *, seed: Optional[int] = None, options: Optional[dict[str, Any]] = None) -> tuple[FloatArray, dict[str, Any]]:
        """Starts an episode; returns the observation and an empty dictionary.

        >>> import rattleback as rb
        >>> env = Env(rb.Scene.example("pendulum"), actions={})
        >>> a, b = env.reset(seed=3)[0], env.reset(seed=3)[0]
        >>> bool((a == b).all())
        True
        """
        if seed is not None:
            self._random = np.random.default_rng(seed)
        self.world.restore(self._start)
        if self._task.randomize is not None:
            self._task.randomize(self.world, self._random)
        self._steps = 0
        return self._task.observe(self.world), {}

    def step(self, action: ArrayLike) -> tuple[FloatArray, float, bool, bool, dict[str, Any]]:
        """One action: observation, reward, terminated, truncated, info. An engine that cannot continue terminates the episode;
        info["error"] says why.

        >>> import rattleback as rb
        >>> env = Env(rb.Scene.example("pendulum"), actions={}, steps_max=1)
        >>> _ = env.reset()
        >>> env.step([])[3]
        True
        """
        if self._steps is None:
            raise InvalidError("the environment must be reset before its first step")
        self._task.act(self.world, self._task.clip(action, (len(self._task.motors),)))
        info: dict[str, Any] = {}
        try:
            self.world.step(self._task.frame_skip)
        except RattlebackError as error:
            info["error"] = str(error)
        self._steps += 1
        observation, reward, terminated, truncated = self._task.judge(self.world, self._steps)
        return observation, reward, terminated or "error" in info, truncated, info

    def render(self) -> None:
        """Nothing is drawn while an episode runs; see World.view.

        >>> import rattleback as rb
        >>> Env(rb.Scene.example("pendulum"), actions={}).render() is None
        True
        """

    def close(self) -> None:
        """Frees the world.

        >>> import rattleback as rb
        >>> Env(rb.Scene.example("pendulum"), actions={}).close()
        """
        self.world.close()


class VectorEnv:
    """Many environments of one scene, stepped together in C threads. Arrays have the number of the environment first. One that
    ended starts anew at once; info["final_observation"] has its last observation.

    >>> import rattleback as rb
    >>> env = VectorEnv(rb.Scene.example("pendulum"), 3, actions={}, steps_max=2)
    >>> env.reset(seed=1)[0].shape[0]
    3
    """

    def __init__(self, scene: Scene, count: int, actions: Mapping[str, tuple[float, float]], *,
                 observations: Optional[Sequence[str]] = None, reward: Optional[Reward] = None,
                 terminated: Optional[Condition] = None, randomize: Optional[Randomize] = None, frame_skip: int = 1,
                 steps_max: Optional[int] = None, threads: Optional[int] = None) -> None:
        if count < 1:
            raise InvalidError(f"the number of environments is {count}; at least 1 is needed")
        self._task = _Task(scene, actions, observations, reward, terminated, randomize, frame_skip, steps_max)
        self.num_envs, self._threads = count, threads
        self.worlds = [scene.world() for _ in range(count)]
        self._start = self.worlds[0].snapshot()
        self.single_action_space = Box(self._task.low, self._task.high, dtype=np.float64)
        self.single_observation_space = Box(-np.inf, np.inf, shape=(len(self._task.chosen),), dtype=np.float64)
        self._random = [np.random.default_rng() for _ in range(count)]
        self._steps = [0] * count

    def _restart(self, i: int) -> FloatArray:
        self.worlds[i].restore(self._start)
        if self._task.randomize is not None:
            self._task.randomize(self.worlds[i], self._random[i])
        self._steps[i] = 0
        return self._task.observe(self.worlds[i])

    def reset(self, *, seed: Optional[int] = None, options: Optional[dict[str, Any]] = None) -> tuple[FloatArray, dict[str, Any]]:
        """Starts all episodes; environment i gets seed + i.

        >>> import rattleback as rb
        >>> VectorEnv(rb.Scene.example("pendulum"), 2, actions={}).reset()[1]
        {}
        """
        if seed is not None:
            self._random = [np.random.default_rng(seed + i) for i in range(self.num_envs)]
        return np.stack([self._restart(i) for i in range(self.num_envs)]), {}

    def step(self, actions: ArrayLike) -> tuple[FloatArray, FloatArray, NDArray[Any], NDArray[Any], dict[str, Any]]:
        """One action for each: observations, rewards, terminated, truncated, info.

        >>> import rattleback as rb
        >>> env = VectorEnv(rb.Scene.example("pendulum"), 2, actions={})
        >>> _ = env.reset()
        >>> env.step(np.empty((2, 0)))[1].tolist()
        [0.0, 0.0]
        """
        given = self._task.clip(actions, (self.num_envs, len(self._task.motors)))
        for world, action in zip(self.worlds, given):
            self._task.act(world, action)
        errors: dict[int, str] = {}
        try:
            step_all(self.worlds, self._task.frame_skip, threads=self._threads)
        except RattlebackError:
            reasons = {i: world._failure() for i, world in enumerate(self.worlds)}
            errors = {i: text for i, text in reasons.items() if text is not None}
        found = []
        info: dict[str, Any] = {}
        for i, world in enumerate(self.worlds):
            self._steps[i] += 1
            observation, reward, terminated, truncated = self._task.judge(world, self._steps[i])
            terminated = terminated or i in errors
            if terminated or truncated:
                info.setdefault("final_observation", {})[i] = observation
                observation = self._restart(i)
            found.append((observation, reward, terminated, truncated))
        if errors:
            info["error"] = errors
        observations, rewards, ended, cut = zip(*found)
        return np.stack(observations), np.array(rewards), np.array(ended), np.array(cut), info

    def close(self) -> None:
        """Frees all worlds.

        >>> import rattleback as rb
        >>> VectorEnv(rb.Scene.example("pendulum"), 2, actions={}).close()
        """
        for world in self.worlds:
            world.close()
