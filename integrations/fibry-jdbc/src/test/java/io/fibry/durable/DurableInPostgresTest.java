package io.fibry.durable;

class DurableInPostgresTest extends DurableContract {
  DurableInPostgresTest() {
    super(DatabaseStores.postgres());
  }
}
