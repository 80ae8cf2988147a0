"""simreal: how much simulation and how much reality does a robot policy need?"""

from importlib.metadata import version

__version__ = version("simreal")
