"""A client of recrawl: the operations of its port, with types, and an iterator over changes that resumes."""

from .api import *
from .changes import ChangeReader as ChangeReader
from .client import Client as Client
from .client import RecrawlError as RecrawlError
from .client import Refused as Refused
from .client import Unreachable as Unreachable

__version__ = "0.1.0"
