"""The wrong rules, one module a family of mistakes."""
