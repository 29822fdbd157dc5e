"""A response matrix as a dataset of the catalog."""

from benchwright.answers.matrix_file import read_matrix, write_matrix
from benchwright.core.kedro_internals import LocalFile
from benchwright.core.response_matrix import ResponseMatrix


class ResponseMatrixDataset(LocalFile[ResponseMatrix]):
    """A `ResponseMatrix` in one Parquet file (`answers.matrix_file`)."""

    def load(self) -> ResponseMatrix:
        """Read the matrix; InputError if the file is not a response matrix."""
        return read_matrix(self.load_path())

    def save(self, data: ResponseMatrix) -> None:
        """Write the matrix atomically."""
        write_matrix(data, self.save_path())
