"""Which fix to try first: chance here, against effort and risk."""
