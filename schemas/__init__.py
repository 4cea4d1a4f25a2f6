"""The contract: what each topic carries. The only package that every process shares."""
