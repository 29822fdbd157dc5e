"""Which subjects lost items? (SMART, Table 9.)"""

import pandas as pd

from benchwright.tables.evidence import SubjectShares


def count_subjects(items: pd.DataFrame, kept_items: pd.DataFrame) -> pd.DataFrame:
    """Count the items of each subject before and after; the subject that lost most comes first."""
    full = items["subject"].value_counts()
    kept = kept_items["subject"].value_counts().reindex(full.index, fill_value=0)
    table = pd.DataFrame(
        {
            "subject": full.index.astype(str),
            "n_full": full.to_numpy(),
            "n_kept": kept.to_numpy(),
            "share_removed": 1 - kept.to_numpy() / full.to_numpy(),
        }
    )
    table = table.sort_values(["share_removed", "subject"], ascending=[False, True])
    return pd.DataFrame(SubjectShares.validate(table.reset_index(drop=True)))
