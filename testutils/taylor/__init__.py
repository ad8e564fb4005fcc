"""The Taylor remainder test, and the remainders that it and the pictures look at."""
