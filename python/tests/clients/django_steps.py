"""Django: migrations of its own applications and one with every kind of field, the ORM, inspectdb, the schema editor.
Usage: python django_steps.py PORT, in a folder with the package `shop`."""

import datetime
import decimal
import io
import pathlib
import sys

import django
from django.conf import settings

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path.cwd())]
from steps import finish, step

DATABASE = {"ENGINE": "django.db.backends.postgresql", "HOST": "127.0.0.1", "NAME": "frazil", "USER": "me"}
OWN = ["admin", "auth", "contenttypes", "messages", "sessions"]
settings.configure(
    INSTALLED_APPS=[*(f"django.contrib.{name}" for name in OWN), "shop"],
    DATABASES={"default": DATABASE | {"PORT": sys.argv[1]}},
    USE_TZ=True,
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    SECRET_KEY="x",
)
django.setup()
from django.contrib.postgres.aggregates import ArrayAgg, StringAgg
from django.core.management import call_command
from django.db import IntegrityError, connection, models, transaction
from django.db.models import Exists, F, OuterRef, Q, Subquery, Value, Window
from django.db.models.functions import Concat, Lower, Now, Rank, TruncMonth
from shop.models import Author, Book, Label


def orm():
    author = Author.objects.create(name="A", born=datetime.date(1970, 1, 1))
    Author.objects.bulk_create([Author(name=f"n{n}") for n in range(10)])
    price = decimal.Decimal("9.50")
    book = Book.objects.create(author=author, title="T", price=price, data={"k": [1, 2]}, tags=["x", "y"], raw=b"\0\1")
    book.labels.set([Label.objects.create(name="l1"), Label.objects.create(name="l2")])
    assert Book.objects.filter(data__k=[1, 2]).count() == 1
    assert Book.objects.filter(data__k__0=1).count() == 1
    assert Book.objects.filter(data__has_key="k").count() == 1
    assert Book.objects.filter(tags__contains=["x"]).count() == 1
    assert Book.objects.filter(tags__overlap=["x", "z"], tags__len=2).count() == 1
    assert Book.objects.select_related("author").prefetch_related("labels").get().author.name == "A"
    assert bytes(Book.objects.get().raw) == b"\0\1"
    assert Author.objects.filter(name__icontains="N1").count() == 1
    assert Author.objects.filter(name__iregex="^N[12]$").count() == 2
    assert Author.objects.annotate(n=models.Count("book")).order_by("-n")[0].n == 1
    assert Author.objects.filter(born__year=1970).exists()
    assert Book.objects.aggregate(models.Sum("price"))["price__sum"] == price
    assert not Author.objects.get_or_create(name="A")[1]
    assert not Author.objects.update_or_create(name="A", defaults={"born": None})[1]
    assert Book.objects.filter(created__date__gte=datetime.date(2020, 1, 1)).count() == 1


def queries():
    books = Book.objects.filter(author=OuterRef("pk"))
    assert len(Author.objects.annotate(r=Window(Rank(), order_by=F("name").desc()))) == 11
    assert len(Book.objects.annotate(m=TruncMonth("created")).values("m").annotate(n=models.Count("*"))) == 1
    assert len(Author.objects.annotate(has=Exists(books)).filter(has=True)) == 1
    assert len(Author.objects.annotate(t=Subquery(books.values("title")[:1]))) == 11
    assert Author.objects.filter(Q(name="n1") | Q(name="n2")).delete()[0] == 2
    assert len(Author.objects.annotate(x=Concat(Lower("name"), Value("!")))) == 9
    assert len(Author.objects.union(Author.objects.filter(name="A"))) == 9
    assert len(Author.objects.order_by("name").distinct("name")) == 9
    assert len(Book.objects.filter(created__lt=Now(), created__week_day__gt=0)) == 1
    assert len(Book.objects.dates("created", "month")) == len(Book.objects.datetimes("created", "hour")) == 1
    assert sum(1 for _ in Author.objects.iterator(chunk_size=2)) == 9
    titles = Author.objects.annotate(t=ArrayAgg("book__title"), s=StringAgg("book__title", Value(", ")))
    assert titles.get(name="A").t == ["T"] and titles.get(name="A").s == "T"
    assert Author.objects.filter(name="A").explain()


def writes():
    assert Book.objects.update(price=F("price") * 2) == 1
    with transaction.atomic():
        assert len(Author.objects.select_for_update(skip_locked=True)) == 9
        assert len(Author.objects.select_for_update(of=("self",), no_key=True)) == 9
    Author.objects.bulk_create([Author(name="A")], ignore_conflicts=True)
    new = [Author(name="A", born=datetime.date(2000, 1, 1))]
    Author.objects.bulk_create(new, update_conflicts=True, unique_fields=["name"], update_fields=["born"])
    assert Author.objects.get(name="A").born.year == 2000
    Author.objects.bulk_update(list(Author.objects.all()), ["born"])


def integrity():
    for broken in ({"name": "A"}, {"name": None}):
        try:
            with transaction.atomic():
                Author.objects.create(**broken)
        except IntegrityError:
            continue
        raise AssertionError(broken)
    assert Author.objects.count() == 9


def inspected():
    out = io.StringIO()
    call_command("inspectdb", stdout=out)
    written = out.getvalue()
    assert "Unable to inspect" not in written, written
    for part in ("class ShopBook(", "models.DecimalField(max_digits=8, decimal_places=2)", "models.UUIDField(unique=True)"):
        assert part in written, written


def dumped():
    path = pathlib.Path("dump.json")
    with path.open("w") as out:
        call_command("dumpdata", "shop", stdout=out)
    call_command("flush", interactive=False, verbosity=0)
    assert Author.objects.count() == 0
    call_command("loaddata", str(path), verbosity=0)
    assert Author.objects.count() == 9


def sequences():
    out = io.StringIO()
    call_command("sqlsequencereset", "shop", stdout=out, no_color=True)
    with connection.cursor() as cursor:
        cursor.execute(out.getvalue())
    Author.objects.create(name="one more")


def named(model, name, field):
    field.set_attributes_from_name(name)
    field.model = model
    return field


def altered():
    meta = type("Meta", (), {"app_label": "shop"})
    fields = {"a": models.IntegerField(), "b": models.CharField(max_length=10, null=True)}
    temporary = type("Temporary", (models.Model,), {"__module__": "shop.models", "Meta": meta, **fields})
    longer = named(temporary, "b", models.CharField(max_length=20, default="x"))
    with connection.schema_editor() as editor:
        editor.create_model(temporary)
        editor.alter_field(temporary, temporary._meta.get_field("b"), longer, strict=True)
    small = named(temporary, "c", models.IntegerField(default=3))
    big = named(temporary, "c", models.BigIntegerField(default=3, db_index=True))
    renamed = named(temporary, "bb", models.CharField(max_length=50, default="x", unique=True, db_comment="hello"))
    with connection.schema_editor() as editor:
        editor.add_field(temporary, small)
        editor.alter_field(temporary, small, big)
        editor.remove_field(temporary, big)
        editor.add_index(temporary, models.Index(fields=["a", "-b"], name="temporary_index"))
        editor.add_constraint(temporary, models.CheckConstraint(condition=Q(a__gt=0), name="a_is_positive"))
        editor.add_constraint(temporary, models.UniqueConstraint(fields=["a"], name="a_is_unique"))
        editor.alter_field(temporary, longer, renamed)
        editor.alter_db_table(temporary, "shop_temporary", "shop_renamed")
        temporary._meta.db_table = "shop_renamed"
        editor.alter_db_table_comment(temporary, "", "a comment")
    with connection.schema_editor() as editor:
        editor.delete_model(temporary)


def backwards():
    for name in ("shop", "admin", "auth", "sessions", "contenttypes"):
        call_command("migrate", name, "zero", verbosity=0)
    assert not any(name.startswith(("shop_", "auth_")) for name in connection.introspection.table_names())


step("makemigrations", lambda: call_command("makemigrations", "shop", verbosity=0))
step("migrate", lambda: call_command("migrate", verbosity=0))
step("no changes", lambda: call_command("makemigrations", check=True, dry_run=True, verbosity=0))
step("orm", orm)
step("queries", queries)
step("writes", writes)
step("integrity", integrity)
step("inspectdb", inspected)
step("dumpdata and loaddata", dumped)
step("sqlsequencereset", sequences)
step("schema editor", altered)
step("migrate backwards", backwards)
finish()
