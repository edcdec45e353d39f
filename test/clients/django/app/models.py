import uuid

from django.contrib.postgres.fields import ArrayField, IntegerRangeField
from django.db import models
from django.db.models.functions import Lower


class Author(models.Model):
    name = models.CharField(max_length=80, unique=True)
    born = models.DateField(null=True)


class Book(models.Model):
    author = models.ForeignKey(Author, models.CASCADE, related_name="books")
    title = models.TextField(db_index=True)
    price = models.DecimalField(max_digits=8, decimal_places=2)
    tags = ArrayField(models.TextField(), default=list)
    data = models.JSONField(null=True)
    at = models.DateTimeField()
    took = models.DurationField(null=True)
    cover = models.BinaryField(null=True)
    pages = IntegerRangeField(null=True)
    key = models.UUIDField(default=uuid.uuid4, unique=True)
    twice = models.GeneratedField(expression=models.F("price") * 2, output_field=models.DecimalField(max_digits=9, decimal_places=2), db_persist=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(price__gte=0), name="price_positive"),
            models.UniqueConstraint(Lower("title"), "author", name="one_title"),
        ]
        indexes = [models.Index(fields=["price"], include=["title"], name="by_price", condition=models.Q(price__gt=1))]
