import uuid

import django.contrib.postgres.fields
import django.contrib.postgres.fields.ranges
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    operations = [
        migrations.CreateModel(
            name="Author",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=60)),
                ("born", models.DateField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="Book",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("author", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="books", to="app.author")),
                ("title", models.TextField()),
                ("price", models.IntegerField()),
                ("tags", django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None)),
                ("data", models.JSONField(null=True)),
                ("at", models.DateTimeField()),
                ("took", models.DurationField(null=True)),
                ("cover", models.BinaryField(null=True)),
                ("pages", django.contrib.postgres.fields.ranges.IntegerRangeField(null=True)),
                ("key", models.UUIDField(default=uuid.uuid4)),
            ],
        ),
    ]
