"""Generated scripts that change tables, judged by PostgreSQL where it is, and by Frazil with nothing frozen: the first seeds of
`python -m judge --scripts`."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from judge import engines  # noqa: E402
from judge.nodes import POSTGRES  # noqa: E402
from judge.script_campaign import ScriptCampaign  # noqa: E402

SCRIPTS = int(os.environ.get("FRAZIL_JUDGED_SCRIPTS", "80"))
# At most this share of steps may differ in a way that is open; at least this share succeeds.
TOLERATED = 0.02
SUCCEEDED = 0.7
OCCUR = {"insert values", "insert select", "on conflict", "do nothing", "do update", "on conflict on constraint", "update", "update from", "delete", "delete using", "returning",
         "returning *", "set row", "set row of a query", "default assigned", "freeze", "begin", "rollback to", "create index", "create unique index", "add column",
         "drop column", "rename column", "rename table", "add constraint", "drop constraint", "set default", "set not null", "with before a change", "lookup", "contents"}


@pytest.mark.parametrize("judge", [POSTGRES, "none"])
def test_scripts_have_the_judges_answers(judge):
    if judge == POSTGRES and POSTGRES not in engines.judges_there():
        pytest.skip(f"{judge} is not installed")
    campaign = ScriptCampaign(judge)
    reports = []
    for seed in range(SCRIPTS):
        steps, found = campaign.run(seed)
        if found:
            reports.append(campaign.report(seed, steps, found, len(reports) < 3))
    campaign.close()
    assert not reports, f"{len(reports)} of {SCRIPTS} scripts differ\n" + "\n".join(reports[:8])
    count = sum(campaign.verdicts.values())
    assert campaign.verdicts["tolerated"] <= TOLERATED * count, campaign.verdicts
    assert campaign.verdicts["same"] >= SUCCEEDED * count, campaign.verdicts
    missing = OCCUR - set(campaign.coverage)
    assert not missing, missing
