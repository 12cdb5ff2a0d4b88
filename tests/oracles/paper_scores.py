"""What RTKM as described scores on the paper's tables."""

# breast cancer, one cluster, at ten shares of outliers from 0.25 to 0.45
WBC_F1 = (
    0.8836,
    0.9044,
    0.9260,
    0.9418,
    0.9587,
    0.9608,
    0.9490,
    0.9359,
    0.9125,
    0.8895,
)
WBC_ME = (
    0.2780,
    0.2242,
    0.1663,
    0.1175,
    0.0667,
    0.0489,
    0.0667,
    0.0917,
    0.1266,
    0.1616,
)
