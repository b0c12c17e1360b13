"""What the example trainings share: their command line, and real data that Debian packages put on every machine.

Data comes from files of python3-sklearn, read without importing scikit-learn (which costs half a second of CPU), and
from the licence texts of base-files.
"""

import argparse
import gzip
import importlib.util
import pathlib
import re

import numpy as np


def arguments(description, iterations):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--iterations", type=int, default=iterations, help="how many to run (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the starting point (%(default)s)")
    parser.add_argument("--work", type=int, default=1, help="repeat the data so many times: the losses stay the same, "
                        "an iteration costs more CPU (%(default)s)")
    return parser.parse_args()


def repeat(work, *arrays):
    """The arrays with their rows repeated: a bigger data set with the same mean loss."""
    return [np.tile(array, (work,) + (1,) * (array.ndim - 1)) for array in arrays]


def standardised(x):
    deviation = x.std(axis=0)
    return (x - x.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)


def quadratic(x):
    """All products of two columns beside the columns themselves, standardised: a polynomial kernel of degree 2."""
    rows, columns = np.triu_indices(x.shape[1])
    return standardised(np.hstack([x, x[:, rows] * x[:, columns]]))


def digits():
    """1797 pictures of 8 x 8 pixels in 0..1, and the digit that each shows."""
    table = _table("digits.csv.gz", delimiter=",")
    return table[:, :64] / 16.0, table[:, 64].astype(int)


def breast_cancer():
    """569 tumours with 30 measures each, standardised, and whether each is benign: -1 or 1."""
    table = _table("breast_cancer.csv", delimiter=",", skiprows=1)
    return standardised(table[:, :30]), table[:, 30] * 2.0 - 1.0


def wine():
    """178 wines with 13 measures each, standardised, and the grower's number."""
    table = _table("wine_data.csv", delimiter=",", skiprows=1)
    return standardised(table[:, :13]), table[:, 13].astype(int)


def diabetes():
    """442 patients with 10 measures each, and how far the disease went in a year; both standardised."""
    return standardised(_table("diabetes_data_raw.csv.gz")), standardised(_table("diabetes_target.csv.gz"))


def licence_words(words_a_document=120, vocabulary=800):
    """Counts of words (columns) in pieces (rows) of the licences in /usr/share/common-licenses, commonest 30 left out."""
    documents = []
    for path in sorted(pathlib.Path("/usr/share/common-licenses").iterdir()):
        if path.is_symlink():
            continue
        words = re.findall(r"[a-z]{3,}", path.read_text(encoding="utf-8", errors="replace").lower())
        documents += [words[i:i + words_a_document] for i in range(0, len(words), words_a_document)]
    count = {}
    for document in documents:
        for word in document:
            count[word] = count.get(word, 0) + 1
    by_count = sorted(count, key=lambda word: (-count[word], word))[30:30 + vocabulary]
    column = {word: i for i, word in enumerate(by_count)}
    counts = np.zeros((len(documents), len(column)))
    for row, document in enumerate(documents):
        for word in document:
            if word in column:
                counts[row, column[word]] += 1
    return counts[counts.sum(axis=1) > 0]


def _table(name, **how):
    package = importlib.util.find_spec("sklearn")
    if package is None:
        raise SystemExit("the data of this example is part of Debian's python3-sklearn: apt-get install python3-sklearn")
    path = pathlib.Path(package.origin).parent / "datasets" / "data" / name
    opener = gzip.open if name.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        return np.loadtxt(file, **how)
