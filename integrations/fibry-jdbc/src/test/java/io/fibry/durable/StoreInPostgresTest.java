package io.fibry.durable;

class StoreInPostgresTest extends StoreContract {
  StoreInPostgresTest() {
    super(DatabaseStores.postgres());
  }
}
