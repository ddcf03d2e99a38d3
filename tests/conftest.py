"""Settings for the whole test run."""

from hypothesis import settings

# A first example compiles caches and builds tables; a busy machine is no reason to fail.
settings.register_profile("ginenv", deadline=None)
settings.load_profile("ginenv")
