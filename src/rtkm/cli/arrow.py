"""pyarrow, which reads and writes all tables of the command line."""

from __future__ import annotations

try:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pa_parquet
except ImportError as error:
    raise ImportError(
        'reading tables needs pyarrow; pip install "rtkm[cli]".'
    ) from error

__all__ = ["pa", "pa_csv", "pa_parquet", "pc"]
