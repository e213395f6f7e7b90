"""The run folder: the result of every stage, the manifest, and the result files for the user.

`Run` is in `folder`. Nothing is imported here, so that `status` and errors are quick.
"""
