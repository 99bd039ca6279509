"""Models with a column of each kind that Django has a field for, keys, indexes and constraints."""

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models


class Author(models.Model):
    name = models.CharField(max_length=50, unique=True)
    born = models.DateField(null=True, db_index=True)

    class Meta:
        indexes = [models.Index(fields=["name", "-born"], name="author_by_name")]


class Label(models.Model):
    name = models.SlugField()


class Book(models.Model):
    uid = models.UUIDField(default=uuid.uuid4, unique=True)
    author = models.ForeignKey(Author, models.CASCADE)
    title = models.TextField()
    price = models.DecimalField(max_digits=8, decimal_places=2)
    created = models.DateTimeField(auto_now_add=True)
    data = models.JSONField(default=dict)
    tags = ArrayField(models.CharField(max_length=10), default=list)
    labels = models.ManyToManyField(Label)
    pages = models.PositiveIntegerField(default=1)
    length = models.DurationField(null=True)
    raw = models.BinaryField(null=True)
    is_sold = models.BooleanField(default=True)
    weight = models.FloatField(null=True)
    opens = models.TimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(price__gte=0), name="price_is_positive"),
            models.UniqueConstraint(fields=["author", "title"], name="title_of_author"),
        ]
