"""Programs written as people write them: modules of Python, differentiated through `traceable`."""
