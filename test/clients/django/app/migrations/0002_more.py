import uuid

from django.db import migrations, models
from django.db.models.functions import Lower


class Migration(migrations.Migration):
    dependencies = [("app", "0001_initial")]
    operations = [
        migrations.AlterField("author", "name", models.CharField(max_length=80, unique=True)),
        migrations.AlterField("book", "title", models.TextField(db_index=True)),
        migrations.AlterField("book", "price", models.DecimalField(decimal_places=2, max_digits=8)),
        migrations.AlterField("book", "key", models.UUIDField(default=uuid.uuid4, unique=True)),
        migrations.AddField(
            "book",
            "twice",
            models.GeneratedField(
                db_persist=True, expression=models.F("price") * 2, output_field=models.DecimalField(decimal_places=2, max_digits=9)
            ),
        ),
        migrations.AddConstraint("book", models.CheckConstraint(condition=models.Q(("price__gte", 0)), name="price_positive")),
        migrations.AddConstraint("book", models.UniqueConstraint(Lower("title"), models.F("author"), name="one_title")),
        migrations.AddIndex(
            "book", models.Index(condition=models.Q(("price__gt", 1)), fields=["price"], include=["title"], name="by_price")
        ),
    ]
