"""An application of Django: `django_steps.py` migrates it and uses its models."""
