package io.fibry.durable;

class StoredContextInPostgresTest extends StoredContextContract {
  StoredContextInPostgresTest() {
    super(DatabaseStores.postgres());
  }
}
