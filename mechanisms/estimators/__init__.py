"""Share among the learners of all papers, as estimators of scikit-learn: budget, public map, stated release."""
